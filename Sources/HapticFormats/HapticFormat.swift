public import Reading
public import HapticModel

/// A file format of haptic patterns: how its files are recognised, read and written.
public protocol HapticFormat: Sendable {
  /// The name in options, rules and JSON, in lower case.
  var id: String { get }
  /// The full name.
  var title: String { get }
  /// Endings of file names, in lower case and without the dot; the first is written.
  var endings: [String] { get }
  /// Whether files of other kinds have the same endings, so that in a folder only files whose content is
  /// certain are taken for patterns.
  var sharesEndings: Bool { get }
  /// The rules of the format itself, in the order in which they are listed.
  ///
  /// Their names begin with the format's id, or the name of its system, and a slash; those of AHAP
  /// have short names.
  var rules: [Rule] { get }

  /// Whether a file is of this format, by its content alone. Takes time in proportion to the bytes
  /// at most.
  func recognize(_ bytes: Span<UInt8>) -> Recognition

  /// Reads a file and reports everything there is to say about it.
  func examine(_ file: SourceFile, options: ReadingOptions) -> Examination

  /// The names of the ways in which the format can be written, the usual one first; empty where there
  /// is one.
  var dialects: [String] { get }

  /// Writes a composition; nil where the format is only read.
  func write(_ composition: HapticComposition, options: WritingOptions) throws(InputError) -> Writing?

  /// The canonical text of a file, which is equal for files that say the same; nil where the format
  /// has none.
  func canonical(_ file: SourceFile) throws(InputError) -> [UInt8]?

  /// The text of a file with its mechanical mistakes corrected and all else as it was; nil where the format
  /// corrects nothing.
  func fixed(_ file: SourceFile) throws(InputError) -> [UInt8]?
}

extension HapticFormat {
  /// False: the endings are the format's own.
  public var sharesEndings: Bool { false }

  /// Empty: the format is written in one way.
  public var dialects: [String] { [] }

  /// Nil: the format is only read.
  public func write(_ composition: HapticComposition, options: WritingOptions) throws(InputError) -> Writing? { nil }

  /// Writes a composition as usual; nil where the format is only read.
  public func write(_ composition: HapticComposition) throws(InputError) -> Writing? {
    try write(composition, options: WritingOptions())
  }

  /// Whether compositions can be written: whether a single transient can.
  public var isWritable: Bool {
    let probe = HapticComposition(HapticPattern(events: [HapticEvent(kind: .hapticTransient, time: 0)]))
    return ((try? write(probe)) ?? nil) != nil
  }

  /// Nil: the format has no canonical text.
  public func canonical(_ file: SourceFile) throws(InputError) -> [UInt8]? { nil }

  /// Nil: the format corrects nothing.
  public func fixed(_ file: SourceFile) throws(InputError) -> [UInt8]? { nil }
}

/// How sure a format is that a file is its own.
public enum Recognition: Int, Comparable, Sendable {
  /// The file is of another format, or damaged.
  case no
  /// Nothing in the file speaks against it.
  case possible
  /// The file has the mark of the format.
  case certain

  /// Whether one is less sure than the other.
  public static func < (one: Recognition, other: Recognition) -> Bool { one.rawValue < other.rawValue }
}

/// The bytes of a file, and what messages call it.
public struct SourceFile: Sendable {
  /// The content.
  public var bytes: [UInt8]
  /// The name in places, usually the path as the user wrote it; its ending helps to find the format.
  public var name: String

  /// Makes a file of bytes; nothing is read.
  public init(_ bytes: [UInt8], name: String) {
    self.bytes = bytes
    self.name = name
  }
}
