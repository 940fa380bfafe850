public import AHAP
public import Diagnostics
internal import HapticModel
public import HapticRender
internal import JSONText
internal import SystemSupport

/// A pattern that was read without a mistake, and is ready to be compiled.
public struct LoadedPattern: Sendable {
  /// Where the pattern came from.
  public let input: PatternInput
  /// The pattern and what its file says of itself.
  public let reading: AHAPReading
  private let document: AHAPDocument
  private let waveforms: [AHAPExamination.Waveform]

  /// Reads a pattern.
  public init(
    _ input: PatternInput, curveTimes: AHAPReadingOptions.CurveTimes = .automatic
  ) throws {
    let document = try input.document()
    let examination = document.examine(options: AHAPReadingOptions(curveTimes: curveTimes))
    guard let reading = examination.reading else { throw try Self.refusal(document) }
    self.input = input
    self.reading = reading
    self.document = document
    waveforms = examination.waveforms
  }

  /// The text that was read.
  public var text: [UInt8] { document.json.text }

  /// The paths of the files that the pattern is made from.
  public var sources: [String] {
    var sources = waveforms.map { FileSystem.join(input.folder ?? "", $0.path) }
    if case .file(let path) = input.origin { sources.append(path) }
    return sources
  }

  /// The sound files that the pattern plays, at a rate.
  public func samples(rate: Double) throws(InputError) -> [String: AudioBuffer] {
    try WaveformFiles.load(waveforms, from: input.folder, rate: rate)
  }

  /// Compiles the pattern, once for each profile that differs.
  public func plans(for profiles: [TransducerProfile], rate: Double) throws -> [RenderPlan] {
    let samples = try samples(rate: rate)
    var plans: [RenderPlan] = []
    for (index, profile) in profiles.enumerated() {
      let same = profiles.firstIndex(of: profile) ?? index
      if same < index {
        plans.append(plans[same])
        continue
      }
      do {
        plans.append(
          try RenderPlan(
            compiling: reading.pattern, profile: profile, rate: rate, samples: samples))
      } catch {
        throw InputError(at: error, in: document)
      }
    }
    return plans
  }

  private static func refusal(_ document: AHAPDocument) throws -> InputError {
    do {
      _ = try document.read()
    } catch {
      return error
    }
    throw FileError(document.json.name, "cannot be read")
  }
}
