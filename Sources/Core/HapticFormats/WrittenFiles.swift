/// The files of a composition in a format.
public struct WrittenFiles: Sendable {
  /// One of the written files.
  public struct File: Equatable, Sendable {
    /// The text after the base name and before the extension; empty for a single file.
    public var nameSuffix: String
    /// The file extension without the dot, or nil for that of the format.
    public var fileExtension: String?
    /// The content.
    public var bytes: [UInt8]

    /// Creates a file from bytes.
    ///
    /// - Parameters:
    ///   - nameSuffix: The text after the base name and before the extension.
    ///   - fileExtension: The file extension without the dot, or nil for that of the format.
    ///   - bytes: The content.
    public init(
      nameSuffix: String = "", fileExtension: String? = nil, _ bytes: [UInt8]
    ) {
      self.nameSuffix = nameSuffix
      self.fileExtension = fileExtension
      self.bytes = bytes
    }
  }

  /// The files, at least one.
  public var files: [File]
  /// The content that the format cannot represent.
  public var losses: [Loss]

  /// Creates the result of writing.
  public init(_ files: [File], losses: [Loss] = []) {
    self.files = files
    self.losses = losses
  }
}
