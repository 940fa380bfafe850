internal import HapticFormats
internal import HapticModel
internal import HapticPlayback
internal import HapticRender
internal import PatternWorkflows
internal import PlaybackSessions
internal import Synchronization
internal import SystemSupport
internal import TransducerProfiles
internal import VendorFormats

extension CompiledPattern {
  /// The reply field that lists the body locations that are mixed instead of played separately;
  /// empty if none are mixed.
  var mixedLocationFields: [CommandReply.Field] {
    guard !mixedLocationNames.isEmpty else { return [] }
    return [.pair("mixed", mixedLocationNames.joined(separator: ","))]
  }
}

/// Loads and compiles patterns by name, and caches them until their files change. Each request is
/// loaded on its own thread, so that only its client waits.
final class PatternLoader: Sendable {
  /// The maximum number of cached patterns; the least recently used pattern is removed first.
  static let cacheCapacity = 64
  /// The maximum number of requests that may load at the same time; further requests are refused.
  static let maximumJobCount = 128

  /// The maximum size of a pattern's file in bytes. Reading takes about ten times the memory, and a
  /// service has little.
  static let maximumFileByteCount = 8 << 20

  /// The result of loading the pattern; nil while loading is in progress.
  typealias LoadingJob = Locked<Result<CompiledPattern, CommandError>?>

  private struct CacheEntry {
    var pattern: CompiledPattern
    var sourceFiles: [(path: String, stamp: FileStamp?)]

    var areSourcesUnchanged: Bool { sourceFiles.allSatisfy { FileStamp($0.path) == $0.stamp } }
  }

  private let profiles: [TransducerProfile]
  private let sampleRateHertz: Double
  private let formats: FormatRegistry
  private let readingOptions: ReadingOptions
  private let allowedFolder: String?
  private let loadsInBackground: Bool
  private let messageForError: @Sendable (any Error) -> String
  private let cachedEntries = Mutex(LRUCache<String, CacheEntry>(capacity: cacheCapacity))
  private let jobCount = Atomic<Int>(0)

  /// - Parameters:
  ///   - profiles: The profiles of the buses.
  ///   - rate: The sample rate in hertz.
  ///   - formats: The formats of patterns.
  ///   - reading: The options for reading patterns.
  ///   - folder: The real path of the only folder from which files are read; nil for all folders.
  ///   - loadsInBackground: True to load each request on its own thread.
  ///   - message: A closure that returns the message for an error.
  init(
    profiles: [TransducerProfile], rate: Double, formats: FormatRegistry = .standard,
    reading: ReadingOptions = ReadingOptions(), folder: String? = nil,
    loadsInBackground: Bool = false,
    message: @escaping @Sendable (any Error) -> String = { "\($0)" }
  ) {
    self.profiles = profiles
    self.sampleRateHertz = rate
    self.formats = formats
    self.readingOptions = reading
    self.allowedFolder = folder
    self.loadsInBackground = loadsInBackground
    self.messageForError = message
  }

  var cachedPatternCount: Int { cachedEntries.withLock { $0.count } }

  func beginLoading(_ command: ServerCommand, wake: WakeSignal?) throws(CommandError) -> LoadingJob
  {
    if let patternWord = command.textValue(of: "PATTERN"),
      let pattern = cachedPattern(for: patternWord)
    {
      return LoadingJob(.success(pattern))
    }
    let makePattern = { @Sendable [self] () throws(CommandError) in try pattern(for: command) }
    let loadingJob = LoadingJob(nil)
    guard loadsInBackground else { return LoadingJob(Result(catching: makePattern)) }
    guard jobCount.load(ordering: .relaxed) < Self.maximumJobCount else {
      throw CommandError(.busy, "too many patterns are loading; try again later")
    }
    jobCount.add(1, ordering: .relaxed)
    do throws(PlaybackError) {
      _ = try BackgroundThread { [self] in
        let result = Result(catching: makePattern)
        loadingJob.withLock { $0 = result }
        jobCount.subtract(1, ordering: .relaxed)
        wake?.raise()
      }
    } catch {
      jobCount.subtract(1, ordering: .relaxed)
      throw CommandError(.busy, error.description)
    }
    return loadingJob
  }

  /// Loads the pattern that a command names, or generates its noise. Loading may take any time;
  /// noise takes about 20 ms for each profile.
  func pattern(for command: ServerCommand) throws(CommandError) -> CompiledPattern {
    guard let patternWord = command.textValue(of: "PATTERN") else {
      return try CompiledPattern(noise: command, profiles: profiles, rate: sampleRateHertz)
    }
    return try pattern(for: patternWord)
  }

  func pattern(for word: String) throws(CommandError) -> CompiledPattern {
    if let pattern = cachedPattern(for: word) { return pattern }
    cachedEntries.withLock { $0.removeValue(for: word) }
    let sourceInput = try patternInput(word)
    let inputFilePath: String? = if case .file(let path) = sourceInput.origin { path } else { nil }
    // The stamp is read first, so that a file that changes while it is read is read again.
    let sourcePath = inputFilePath ?? word
    let sourceStamp = FileStamp(sourcePath)
    do {
      let pattern = try LoadedPattern(sourceInput, options: readingOptions)
      let sources = pattern.sourcePaths.filter { $0 != sourcePath }.map {
        (path: $0, stamp: FileStamp($0))
      }
      let areMixed = pattern.mergedBodyLocationFinding(on: profiles) != nil
      let locations = areMixed ? pattern.composition.bodyLocations : []
      let compiledPattern = CompiledPattern(
        name: sourceInput.outputStem,
        plansByHapticBus: try pattern.compilePlans(for: profiles, rate: sampleRateHertz),
        duration: pattern.composition.durationSeconds,
        mixedLocationNames: locations.map(\.displayName))
      let entry = CacheEntry(
        pattern: compiledPattern, sourceFiles: [(sourcePath, sourceStamp)] + sources)
      cachedEntries.withLock { $0.insert(entry, for: word) }
      return compiledPattern
    } catch {
      throw CommandError(.invalidPattern, messageForError(error))
    }
  }

  private func cachedPattern(for word: String) -> CompiledPattern? {
    guard let cachedEntry = cachedEntries.withLock({ $0.value(for: word) }),
      cachedEntry.areSourcesUnchanged
    else {
      return nil
    }
    return cachedEntry.pattern
  }

  private func patternInput(_ word: String) throws(CommandError) -> PatternInput {
    if word == "-" {
      throw CommandError(.invalidPattern, "standard input (-) contains commands; specify a file")
    }
    let inputPath = try pathWithinAllowedFolder(of: word)
    let wholeInput: PatternInput
    do throws(PatternInput.SinglePatternError) {
      wholeInput = try PatternInput.singlePattern(at: inputPath, named: word, formats: formats)
    } catch {
      switch error {
      case .notRegularFile(let fileError):
        throw CommandError(.invalidPattern, "\(word.inQuotes) \(fileError.reason)")
      case .notFound(let fileError):
        throw CommandError(.invalidPattern, fileError.description)
      }
    }
    if case .file(let path) = wholeInput.origin {
      guard FileSystem.byteCount(of: path) ?? 0 <= Self.maximumFileByteCount else {
        throw CommandError(
          .invalidPattern,
          "\(word.inQuotes) has more than \(Self.maximumFileByteCount >> 20) MiB; "
            + "divide the pattern"
        )
      }
    }
    guard var patternInput = wholeInput.parts.first else { return wholeInput }
    // If a file has several patterns, all of them play one after another.
    patternInput.filePart = nil
    return patternInput
  }

  /// Returns the path of the pattern with the given name within the folder. A plain name that does
  /// not exist there is returned unchanged.
  private func pathWithinAllowedFolder(of word: String) throws(CommandError) -> String {
    guard let allowedFolder else { return word }
    let joinedPath = word.hasPrefix("/") ? word : FileSystem.joinPath(allowedFolder, word)
    // Links are followed first, so that none leads out of the folder.
    guard let realPath = FileSystem.realPath(joinedPath) else {
      // The name of a shipped pattern; a file of this name in another folder does not count.
      if !word.contains("/"), FileSystem.entryKind(at: word) == .missing {
        return word
      }
      throw CommandError(.invalidPattern, "\(word.inQuotes) is outside the folder of '--folder'")
    }
    guard realPath.hasPrefix(allowedFolder == "/" ? allowedFolder : allowedFolder + "/") else {
      throw CommandError(.invalidPattern, "\(word.inQuotes) is outside the folder of '--folder'")
    }
    return realPath
  }
}
