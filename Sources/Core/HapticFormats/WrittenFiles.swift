/// The files produced by writing a composition in a format.
public struct WrittenFiles: Sendable {
  /// One of the written files.
  public struct File: Equatable, Sendable {
    /// The text between the base name and the extension; empty for a single file.
    public var nameSuffix: String
    /// The file extension, without the dot, or nil to use the default extension of the format.
    public var fileExtension: String?
    /// The contents of the file, as bytes.
    public var bytes: [UInt8]

    /// Creates a file from bytes.
    ///
    /// - Parameters:
    ///   - nameSuffix: The text between the base name and the extension.
    ///   - fileExtension: The file extension, without the dot, or nil to use the default of the
    ///     format.
    ///   - bytes: The bytes of the file.
    public init(
      nameSuffix: String = "", fileExtension: String? = nil, _ bytes: [UInt8]
    ) {
      self.nameSuffix = nameSuffix
      self.fileExtension = fileExtension
      self.bytes = bytes
    }
  }

  /// The written files, at least one.
  public var files: [File]
  /// The losses: content of the composition that the format cannot represent.
  public var losses: [Loss]

  /// Creates the result of writing a composition.
  public init(_ files: [File], losses: [Loss] = []) {
    self.files = files
    self.losses = losses
  }
}
