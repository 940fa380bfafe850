public import HapticFormats
public import HapticModel
public import HapticRender
internal import PatternRules
public import Reading
internal import SystemSupport
internal import VendorFormats

/// A pattern that was read without errors and is ready to be compiled.
public struct LoadedPattern: Sendable {
  /// The input that names the origin of the pattern.
  public let input: PatternInput
  /// The name and bytes of the pattern's file. The bytes of a sound file are omitted.
  public let file: SourceFile
  /// The composition of the pattern, with curves converted to straight segments.
  public let composition: HapticComposition
  /// The additional metadata in the file, as names and values.
  public let metadata: [(name: String, value: String)]
  private let sourceMap: SourceMap
  private let soundReferences: [ReadResult.SoundReference]
  private let findings: [Finding]

  /// Creates a pattern by reading a file of any format, or a sound file as a pattern of sampled
  /// signals.
  ///
  /// - Parameters:
  ///   - input: The origin of the pattern.
  ///   - options: The options of the format. Findings are never wanted.
  /// - Throws: The first error, an `InputError`, `FileError`, or `SoundFileError`.
  public init(_ input: PatternInput, options: ReadingOptions = ReadingOptions()) throws {
    if let composition = try SoundPattern.readComposition(of: input) {
      self.input = input
      self.composition = composition
      file = SourceFile([], name: input.name)
      metadata = []
      sourceMap = .inMemory(name: input.name)
      findings = []
      soundReferences = []
      return
    }
    var formatOptions = options
    formatOptions.wantsFindings = false
    file = try input.readFile()
    let fileReadResult = input.formats.examine(file, options: formatOptions)
    var linearComposition = try fileReadResult.get().linearized()
    if input.soundLookup == .none {
      linearComposition.removeSoundFiles()
    }
    self.input = input
    self.composition = linearComposition
    metadata = fileReadResult.fileDetails
    sourceMap = fileReadResult.sourceMap
    findings = fileReadResult.findings
    soundReferences = input.soundLookup == .none ? [] : fileReadResult.soundReferences
  }

  /// The format of the file, or nil if it cannot be recognized. The file is examined at each call.
  var format: HapticFormat? { try? input.formats.format(of: file) }

  /// The paths of the pattern's file and its sound files.
  public var sourcePaths: [String] {
    var allSourcePaths = soundReferences.map {
      FileSystem.joinPath(input.soundFolder ?? "", $0.path)
    }
    if case .file(let path) = input.origin {
      allSourcePaths.append(path)
    }
    return allSourcePaths
  }

  /// Returns the sound files of the pattern, decoded at the given sample rate, by their paths.
  public func soundSamples(rate: Double) throws(InputError) -> [String: AudioBuffer] {
    try WaveformFiles.loadSamples(soundReferences, from: input.soundFolder, rate: rate)
  }

  /// Returns warnings about playback that deviates from the pattern. Reads the sound files again.
  public func playbackWarnings() -> [Finding] {
    findings + WaveformFiles.damageWarnings(soundReferences, from: input.soundFolder)
  }

  /// Returns a finding if the body locations of the pattern are merged, because none of the
  /// profiles is assigned to a body location.
  public func mergedBodyLocationFinding(on profiles: [TransducerProfile]) -> Finding? {
    guard profiles.allSatisfy({ $0.bodyLocation == nil }) else { return nil }
    return PatternRules.mergedBodyLocations(
      of: composition, at: sourceMap.location(of: .composition))
  }

  /// Returns findings about parts of the pattern that the given profiles do not play as the file
  /// states: body locations that are merged or not played, and frequencies that are moved.
  public func playbackFindings(on profiles: [TransducerProfile], rate: Double) -> [Finding] {
    let unplayedLocations = PatternRules.unplayedBodyLocations(
      of: composition, on: profiles.map(\.bodyLocation),
      at: sourceMap.location(of: .composition))
    return [mergedBodyLocationFinding(on: profiles), unplayedLocations].compactMap { $0 }
      + unreproducibleFrequencyFindings(on: profiles, rate: rate)
  }

  /// Returns a finding for each distinct profile that cannot reproduce the frequencies that the
  /// pattern states in hertz.
  public func unreproducibleFrequencyFindings(on profiles: [TransducerProfile], rate: Double)
    -> [Finding]
  {
    let compositionLocation = sourceMap.location(of: .composition)
    let distinctProfileIndices = profiles.indices.filter { !profiles[..<$0].contains(profiles[$0]) }
    return distinctProfileIndices.compactMap { index in
      PatternRules.unreproducedFrequencyFinding(
        of: composition, on: profiles[index], rate: rate, at: compositionLocation)
    }
  }

  /// Compiles the pattern once for each distinct profile, and returns the plan of each profile.
  public func compilePlans(
    for profiles: [TransducerProfile], rate: Double, isRaw: Bool = false
  ) throws -> [RenderPlan] {
    let decodedSamples = try soundSamples(rate: rate)
    var renderPlans: [RenderPlan] = []
    for index in profiles.indices {
      if let equalIndex = profiles[..<index].firstIndex(of: profiles[index]) {
        renderPlans.append(renderPlans[equalIndex])
        continue
      }
      do throws(RenderError) {
        renderPlans.append(
          try RenderPlan(
            compiling: composition, profile: profiles[index], rate: rate, samples: decodedSamples,
            isRaw: isRaw))
      } catch {
        throw InputError(error, location: sourceMap.location(of:))
      }
    }
    return renderPlans
  }
}

extension HapticComposition {
  /// Removes the events that play sound files.
  package mutating func removeSoundFiles() {
    for index in layers.indices {
      layers[index].pattern.events.removeAll { $0.kind.playsFile }
    }
  }
}
