public import Diagnostics
public import HapticModel

/// A file format of haptic patterns: how its files are recognised, read and written.
public protocol HapticFormat: Sendable {
  /// The name in options, rules and JSON, in lower case.
  var id: String { get }
  /// The full name.
  var title: String { get }
  /// Endings of file names, in lower case and without the dot; the first is written.
  var endings: [String] { get }
  /// The rules of the format itself, in the order in which they are listed.
  ///
  /// Their names begin with the format's id and a slash; those of AHAP have short names.
  var rules: [Rule] { get }

  /// Whether a file is of this format, by its content alone. Takes time in proportion to the bytes
  /// at most.
  func recognize(_ bytes: Span<UInt8>) -> Recognition

  /// Reads a file and reports everything there is to say about it.
  func examine(_ file: SourceFile, options: ReadingOptions) -> Examination

  /// Writes a composition; nil where the format is only read.
  func write(_ composition: HapticComposition) throws(InputError) -> Writing?

  /// The canonical text of a file, which is equal for files that say the same; nil where the format
  /// has none.
  func canonical(_ file: SourceFile) throws(InputError) -> [UInt8]?
}

extension HapticFormat {
  /// Nil: the format is only read.
  public func write(_ composition: HapticComposition) throws(InputError) -> Writing? { nil }

  /// Nil: the format has no canonical text.
  public func canonical(_ file: SourceFile) throws(InputError) -> [UInt8]? { nil }
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
  public static func < (one: Recognition, other: Recognition) -> Bool {
    one.rawValue < other.rawValue
  }
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

/// How a file is read; a format ignores what does not concern it.
public struct ReadingOptions: Equatable, Sendable {
  /// What the times of control points count from.
  public enum CurveTimes: String, CaseIterable, Sendable {
    /// From the start of their curve, as Apple documents.
    case relative
    /// From the start of the pattern, as some tools write.
    case absolute
    /// From the start of their curve, unless all curves of the file together show otherwise.
    case automatic
  }

  /// What the times of control points count from.
  public var curveTimes: CurveTimes
  /// Whether findings below errors, allowances and losses are wanted; without them reading is
  /// faster.
  public var wantsFindings: Bool

  /// Makes options; those not given read everything as the format documents it.
  public init(curveTimes: CurveTimes = .automatic, wantsFindings: Bool = true) {
    self.curveTimes = curveTimes
    self.wantsFindings = wantsFindings
  }
}

/// Files as a format writes them.
public struct Writing: Sendable {
  /// One of the files.
  public struct File: Equatable, Sendable {
    /// What follows the name before its ending; empty for the only file.
    public var suffix: String
    /// The content.
    public var bytes: [UInt8]

    /// Makes a file of bytes.
    public init(suffix: String = "", _ bytes: [UInt8]) {
      self.suffix = suffix
      self.bytes = bytes
    }
  }

  /// The files; at least one.
  public var files: [File]
  /// What the format cannot hold.
  public var losses: [Loss]

  /// Makes the result of writing.
  public init(_ files: [File], losses: [Loss] = []) {
    self.files = files
    self.losses = losses
  }
}

/// Something a reader or writer could not keep.
public struct Loss: Equatable, Sendable {
  /// What became of it.
  public enum Kind: String, Sendable {
    /// It is there, but not exactly.
    case approximated
    /// It is gone.
    case dropped
  }

  /// What became of it.
  public var kind: Kind
  /// What it is about.
  public var element: CompositionElement
  /// One sentence, without a full stop.
  public var message: String
  /// How large the difference is, in the unit the message names, or nil.
  public var size: Double?

  /// Makes a loss.
  public init(
    _ kind: Kind, _ element: CompositionElement, _ message: String, size: Double? = nil
  ) {
    self.kind = kind
    self.element = element
    self.message = message
    self.size = size
  }
}
