import HapticRender
import SoundFile
import SystemSupport
import TestSupport
import Testing

@testable import PatternWorkflows

/// A pattern with a damaged sound file is rendered or refused, and a rendering stays below the
/// ceiling.
@Suite struct SoundFuzzTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func sound(_ container: SoundFileFormat.Container) throws -> [UInt8] {
    let name = "good.\(container.rawValue)"
    let samples = (0..<600).map { Float($0 % 60) / 60 - 0.5 }
    var file = try AtomicFileWriter(folder(name))
    var writer = try SoundFileWriter(
      descriptor: file.descriptor, path: name,
      format: SoundFileFormat(container: container, sampleFormat: .s16),
      rate: 8_000, channelCount: 1, frameCount: Int64(samples.count))
    try writer.write(samples.span)
    try writer.close()
    try file.commit()
    return try FileSystem.read(folder(name))
  }

  @Test(arguments: [SoundFileFormat.Container.wav, .aiff, .caf, .w64])
  func damagedFilesAreReadOrRefused(
    container: SoundFileFormat.Container
  ) throws {
    let validFile = try sound(container)
    let name = "sound.\(container.rawValue)"
    try folder.write(
      """
      {"Version": 1.0, "Pattern": [{"Event": {"Time": 0, "EventType": "AudioCustom",
        "EventDuration": 0.05, "EventWaveformPath": "\(name)", "EventParameters": []}}]}
      """, to: "a.ahap")
    let input = PatternInput(origin: .file(folder("a.ahap")), outputStem: "a")
    var job = RenderJob()
    job.sampleRateHertz = 8_000
    var mutator = InputMutator(
      seed: 17, words: ["\0\0\0\0", "data", "fmt ", "\u{7F}\u{7F}\u{7F}\u{7F}"])
    var renderedCount = 0
    for _ in 0..<InputMutator.caseCount(default: 60) {
      // Damage in the header has more effects than in the samples.
      let damagedHeader = mutator.mutated(Array(validFile.prefix(96)))
      try folder.write(damagedHeader + validFile.dropFirst(96), to: name)
      do {
        let plan = try job.loadPlan(input).plan
        var renderer = OfflineRenderer(plan: plan, settings: job.renderSettings(for: plan))
        let samples = renderer.samples()
        #expect(samples.allSatisfy { $0.isFinite && abs($0) <= 0.8913 })
        renderedCount += 1
      } catch {
        #expect(InputMutator.isOneLine("\(error)"), "\(error)")
      }
    }
    #expect(renderedCount > 0)
  }
}
