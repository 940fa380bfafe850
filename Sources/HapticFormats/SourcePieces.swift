public import HapticModel

/// The bytes of a large file, which come in pieces so that they are never in memory together.
public struct SourcePieces {
  /// The name in places, usually the path as the user wrote it.
  public var name: String
  /// The first bytes: 1 MiB at least, or the whole file.
  public var start: [UInt8]
  /// How many bytes are read together.
  public var pieceSize = 1 << 18
  /// Appends a number of the bytes that follow, fewer at the end of the file; false where it has ended.
  public var append: (_ bytes: inout [UInt8], _ count: Int) throws -> Bool

  /// Makes a file of its first bytes and of what gives the others.
  public init(name: String, start: [UInt8], append: @escaping (_ bytes: inout [UInt8], _ count: Int) throws -> Bool) {
    self.name = name
    self.start = start
    self.append = append
  }
}

/// What a file holds that was read in pieces.
public struct PieceReading: Sendable {
  /// The pattern.
  public var composition: HapticComposition
  /// What else the file says about itself, such as a version, in its order.
  public var details: [(name: String, value: String)]

  /// Makes a reading.
  public init(composition: HapticComposition, details: [(name: String, value: String)] = []) {
    self.composition = composition
    self.details = details
  }
}

extension FormatRegistry {
  /// Reads a large file in pieces, as `examine` would without findings; nil where it has to be read as a whole.
  ///
  /// That is where there is something to report, where it plays sound files, where its name stands for another format
  /// than its content, and for formats that cannot be read in pieces.
  public func reading(_ file: SourcePieces, options: ReadingOptions) -> PieceReading? {
    let named = formats(named: file.name)
    guard named.count == 1, named[0].recognize(file.start.span) == .certain else { return nil }
    return named[0].reading(file, options: options)
  }
}
