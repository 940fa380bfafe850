internal import HapticFormats
internal import HapticModel
internal import HapticRender
internal import PatternWorkflows
internal import SystemSupport

/// Patterns by the words that name them, compiled once and again when their files change.
struct CompiledPatternCache {
  /// Patterns that are kept; those not used for longest are let go.
  static let capacity = 64

  /// A pattern that is ready to be loaded.
  struct CachedPattern {
    /// What it is called where no other name is given.
    var name: String
    /// One plan for each haptic bus.
    var plans: [RenderPlan]
    /// Seconds.
    var duration: Double
  }

  private struct Entry {
    var piece: CachedPattern
    var sources: [(path: String, stamp: FileStamp?)]

    /// Whether no file that it is made from has changed since.
    var isCurrent: Bool { sources.allSatisfy { FileStamp($0.path) == $0.stamp } }
  }

  private let profiles: [TransducerProfile]
  private let rate: Double
  private let formats: FormatRegistry
  private let message: (any Error) -> String
  private var entries = LRUCache<String, Entry>(capacity: capacity)

  /// An empty cache for the profiles of an engine's haptic buses, and its rate.
  ///
  /// - Parameters:
  ///   - formats: The formats of the patterns.
  ///   - message: One line about why a pattern cannot be read.
  init(
    profiles: [TransducerProfile], rate: Double, formats: FormatRegistry = .standard,
    message: @escaping (any Error) -> String = { "\($0)" }
  ) {
    self.profiles = profiles
    self.rate = rate
    self.formats = formats
    self.message = message
  }

  /// Patterns that are kept.
  var count: Int { entries.count }

  /// The pattern of a file or a shipped one.
  mutating func piece(_ word: String) throws(ListenError) -> CachedPattern {
    if let entry = entries.value(word), entry.isCurrent { return entry.piece }
    entries.forget(word)
    let input = try input(word)
    // Asked for before reading: a file that is changed meanwhile is read again.
    let stamp = FileStamp(word)
    do {
      let pattern = try LoadedPattern(input)
      let sources = pattern.sources.filter { $0 != word }.map { (path: $0, stamp: FileStamp($0)) }
      let piece = CachedPattern(
        name: input.outputStem, plans: try pattern.plans(for: profiles, rate: rate),
        duration: pattern.composition.duration)
      entries.keep(Entry(piece: piece, sources: [(word, stamp)] + sources), for: word)
      return piece
    } catch {
      throw ListenError(.invalidPattern, message(error))
    }
  }

  /// One pattern, from where reading never waits.
  private func input(_ word: String) throws(ListenError) -> PatternInput {
    if word == "-" {
      throw ListenError(.invalidPattern, "- (standard input) is used for commands; name a file")
    }
    switch FileSystem.entry(at: word) {
    case .folder:
      throw ListenError(.invalidPattern, "\(word.inQuotes) is a folder; name one pattern")
    case .other: throw ListenError(.invalidPattern, "\(word.inQuotes) is not a regular file")
    case .file, .nothing: break
    }
    let (inputs, problems) = PatternInput.find([word], formats: formats)
    guard let input = inputs.first else {
      throw ListenError(
        .invalidPattern, problems.first?.description ?? "\(word.inQuotes) cannot be read")
    }
    return input
  }
}

/// Values by their keys, of which only those used last are kept.
struct LRUCache<Key: Hashable, Value> {
  private let capacity: Int
  private var entries: [Key: (value: Value, use: Int)] = [:]
  private var useCount = 0

  /// Nothing yet, and space for some values.
  init(capacity: Int) { self.capacity = max(1, capacity) }

  /// Values that are kept.
  var count: Int { entries.count }

  /// The value of a key, which counts as used now.
  mutating func value(_ key: Key) -> Value? {
    useCount += 1
    entries[key]?.use = useCount
    return entries[key]?.value
  }

  /// Keeps a value; where there are too many, the one that was not used for longest goes.
  mutating func keep(_ value: Value, for key: Key) {
    useCount += 1
    entries[key] = (value, useCount)
    if entries.count > capacity, let oldest = entries.min(by: { $0.value.use < $1.value.use }) {
      entries[oldest.key] = nil
    }
  }

  /// Forgets a value.
  mutating func forget(_ key: Key) { entries[key] = nil }
}
