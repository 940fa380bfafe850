import Synchronization

/// Patterns by the words that name them, compiled once and again when their files change; each
/// request reads on a thread of its own, so that nobody but who asked waits.
final class PatternLoader: Sendable {
  /// Patterns that are kept; those not used for longest are let go.
  static let capacity = 64
  /// Requests that may be loading at once; beyond, one is refused.
  static let maximumJobCount = 128

  /// What came of loading; nil meanwhile.
  typealias Job = Locked<Result<CompiledPattern, CommandError>?>

  private struct Entry {
    var pattern: CompiledPattern
    var sources: [(path: String, stamp: FileStamp?)]

    var isCurrent: Bool { sources.allSatisfy { FileStamp($0.path) == $0.stamp } }
  }

  private let profiles: [TransducerProfile]
  private let rate: Double
  private let formats: FormatRegistry
  private let folder: String?
  private let loadsInBackground: Bool
  private let message: @Sendable (any Error) -> String
  private let entries = Mutex(LRUCache<String, Entry>(capacity: capacity))
  private let jobCount = Atomic<Int>(0)

  /// `folder` is the only one of which files are opened, as a real path; `loadsAside` gives jobs
  /// threads of their own.
  init(
    profiles: [TransducerProfile], rate: Double, formats: FormatRegistry = .standard,
    folder: String? = nil,
    loadsInBackground loadsAside: Bool = false,
    message: @escaping @Sendable (any Error) -> String = { "\($0)" }
  ) {
    self.profiles = profiles
    self.rate = rate
    self.formats = formats
    self.folder = folder
    self.loadsInBackground = loadsAside
    self.message = message
  }

  var count: Int { entries.withLock { $0.count } }

  func beginLoading(_ command: ServerCommand, wake: WakeSignal?) throws(CommandError) -> Job {
    let make = { @Sendable [self] () throws(CommandError) in try pattern(for: command) }
    let job = Job(nil)
    guard loadsInBackground else { return Job(Result(catching: make)) }
    guard jobCount.load(ordering: .relaxed) < Self.maximumJobCount else {
      throw CommandError(.busy, "too many patterns are loading; try again later")
    }
    jobCount.add(1, ordering: .relaxed)
    do throws(PlaybackError) {
      _ = try BackgroundThread { [self] in
        let result = Result(catching: make)
        job.withLock { $0 = result }
        jobCount.subtract(1, ordering: .relaxed)
        wake?.raise()
      }
    } catch {
      jobCount.subtract(1, ordering: .relaxed)
      throw CommandError(.busy, error.description)
    }
    return job
  }

  /// The pattern of a command, which may take any time, or its noise, some 20 ms for each profile.
  func pattern(for command: ServerCommand) throws(CommandError) -> CompiledPattern {
    guard let word = command.text("PATTERN") else {
      return try CompiledPattern(noise: command, profiles: profiles, rate: rate)
    }
    return try pattern(for: word)
  }

  func pattern(for word: String) throws(CommandError) -> CompiledPattern {
    if let entry = entries.withLock({ $0.value(for: word) }), entry.isCurrent {
      return entry.pattern
    }
    entries.withLock { $0.removeValue(for: word) }
    let input = try input(word)
    let path: String? = if case .file(let path) = input.origin { path } else { nil }
    // Asked for before reading: a file that is changed meanwhile is read again.
    let place = path ?? word
    let stamp = FileStamp(place)
    do {
      let pattern = try LoadedPattern(input)
      let sources = pattern.sourcePaths.filter { $0 != place }.map {
        (path: $0, stamp: FileStamp($0))
      }
      let piece = CompiledPattern(
        name: input.outputStem, plans: try pattern.plans(for: profiles, rate: rate),
        duration: pattern.composition.duration)
      let entry = Entry(pattern: piece, sources: [(place, stamp)] + sources)
      entries.withLock { $0.insert(entry, for: word) }
      return piece
    } catch {
      throw CommandError(.invalidPattern, message(error))
    }
  }

  private func input(_ word: String) throws(CommandError) -> PatternInput {
    if word == "-" {
      throw CommandError(.invalidPattern, "- (standard input) is used for commands; name a file")
    }
    let path = try confinedPath(of: word)
    switch FileSystem.entry(at: path) {
    case .folder:
      throw CommandError(.invalidPattern, "\(word.inQuotes) is a folder; name one pattern")
    case .other:
      throw CommandError(.invalidPattern, "\(word.inQuotes) is not a regular file")
    case .file, .missing:
      break
    }
    let (inputs, problems) = PatternInput.find([path], formats: formats)
    guard let input = inputs.first else {
      throw CommandError(
        .invalidPattern, problems.first?.description ?? "\(word.inQuotes) cannot be read")
    }
    return input
  }

  /// The path of a word in the folder; a plain name that is nothing there stays as it is.
  private func confinedPath(of word: String) throws(CommandError) -> String {
    guard let folder else { return word }
    let path = word.hasPrefix("/") ? word : FileSystem.join(folder, word)
    // Links are followed first, so that none leads out.
    guard let real = FileSystem.realPath(path) else {
      // A shipped pattern; a file of this name in another folder is none.
      if !word.contains("/"), FileSystem.entry(at: word) == .missing {
        return word
      }
      throw CommandError(.invalidPattern, "\(word.inQuotes) is not in the folder of '--folder'")
    }
    guard real.hasPrefix(folder == "/" ? folder : folder + "/") else {
      throw CommandError(.invalidPattern, "\(word.inQuotes) is not in the folder of '--folder'")
    }
    return real
  }
}

struct LRUCache<Key: Hashable, Value> {
  private let capacity: Int
  private var entries: [Key: (value: Value, use: Int)] = [:]
  private var useCount = 0

  init(capacity: Int) { self.capacity = max(1, capacity) }
  var count: Int { entries.count }

  mutating func value(for key: Key) -> Value? {
    useCount += 1
    entries[key]?.use = useCount
    return entries[key]?.value
  }

  /// Keeps a value; where there are too many, the one that was not used for longest goes.
  mutating func insert(_ value: Value, for key: Key) {
    useCount += 1
    entries[key] = (value, useCount)
    if entries.count > capacity, let oldest = entries.min(by: { $0.value.use < $1.value.use }) {
      entries[oldest.key] = nil
    }
  }

  mutating func removeValue(for key: Key) { entries[key] = nil }
}

package struct CommandQueue {
  /// Lines that are run before the next connection has its turn.
  static let maximumBatchCount = 64

  package enum Ending: String, Sendable { case quit, shutdown }

  private var lines: ArraySlice<LineReader.Line> = []
  private var loadingRequest: (request: CommandRequest, job: PatternLoader.Job)?
  /// The request that found no space, to be tried once more.
  private var deferredRequest:
    (request: CommandRequest, piece: Result<CompiledPattern, CommandError>?, since: Duration)?

  package init() {}
  package var isEmpty: Bool { lines.isEmpty && deferredRequest == nil && loadingRequest == nil }

  /// When there is something to do again; nothing where there are no lines.
  package func nextTime(period: Duration) -> Duration? {
    if let deferredRequest { return deferredRequest.since + period }
    if let loadingRequest { return loadingRequest.job.withLock { $0 } == nil ? nil : .zero }
    return lines.isEmpty ? nil : .zero
  }

  package mutating func add(_ new: [LineReader.Line]) { lines += new }

  /// Obeys some lines and hands on answers, until one asks for an end, finds no space or waits for
  /// its pattern.
  package mutating func execute(
    by session: CommandSession, client: Int = 0, at now: Duration, period: Duration,
    answer: (CommandReply) -> Void
  ) -> Ending? {
    if let (request, piece, since) = deferredRequest {
      guard now >= since + period else { return nil }
      deferredRequest = nil
      answer(session.reply(to: request, clientID: client, with: piece))
    }
    var count = 0
    while count < Self.maximumBatchCount {
      count += 1
      let request: CommandRequest
      var piece: Result<CompiledPattern, CommandError>?
      if let (loaded, job) = loadingRequest {
        guard let result = job.withLock({ $0 }) else { return nil }
        loadingRequest = nil
        request = loaded
        piece = result
      } else {
        guard let line = lines.popFirst() else { return nil }
        guard let read = CommandGrammar.read(line) else { continue }
        request = read
        do throws(CommandError) {
          if let job = try session.load(for: request) {
            loadingRequest = (request, job)
            continue
          }
        } catch {
          answer(.error(error, tag: request.tag))
          continue
        }
      }
      let reply = session.reply(to: request, clientID: client, with: piece)
      if reply.errorKind == .busy {
        deferredRequest = (request, piece, now)
        return nil
      }
      answer(reply)
      if let verb = try? request.command.get().syntax.verb, let ending = Ending(rawValue: verb) {
        lines = []
        return ending
      }
    }
    return nil
  }
}
