import Foundation
import HapticFormats
import HapticModel
import HapticRender
import PatternWorkflows
import Reading
import RealtimeMemory
import ShippedFiles
import TestSupport
import Testing

@testable import StudioCore

/// The score, the findings, and the rendering of a document.
struct SoundTests {
  private func studio(_ name: String) throws -> Studio {
    let studio = Studio()
    studio.documents[0].open(
      SourceFile(try #require(ShippedPatterns.text(named: name)), name: name + ".ahap"))
    return studio
  }

  private func json(_ bytes: [UInt8]) throws -> JSONValue {
    try JSONDocument(text: bytes, name: "answer").root
  }

  @Test func renderingEqualsThatOfTheProgram() throws {
    let studio = try studio("earthquake-splash")
    let composition = try #require(studio.documents[0].lastReadableEditor?.content.composition)
    for (index, profile) in studio.profiles.enumerated() {
      let plan = try RenderPlan(compiling: composition, profile: profile)
      let job = RenderJob(profile: profile)
      var renderer = OfflineRenderer(plan: plan, settings: job.renderSettings(for: plan))
      #expect(
        try studio.renderSamples(of: 0, profile: index, rate: 48_000) == renderer.samples(),
        "\(profile.name)")
    }
  }

  @Test func allShippedProfilesAreListed() throws {
    let list = try json(Studio().profilesJSON())
    #expect(
      Array(list.elements).map { $0["name"]?.string }
        == ShippedFiles.profiles.names.map { String($0.dropLast(5)) })
    #expect(Array(list.elements).contains { $0["hasHardware"]?.boolean == true })
  }

  @Test func serializedPlanEqualsThePlan() throws {
    for seed in 0..<20 {
      var generator = PatternGenerator(seed: UInt64(seed))
      guard let plan = try? RenderPlan(compiling: generator.pattern(), rate: 48_000) else {
        continue
      }
      let bytes = plan.serialized()
      let count = bytes.count
      let deserializedPlan = RenderPlan.deserialized(from: bytes, count: count)
      let copy = try #require(deserializedPlan)
      #expect(
        (copy.frameCount, copy.loopFrameCount, copy.eventCount) == (
          plan.frameCount, plan.loopFrameCount, plan.eventCount
        ))
      var renderer = OfflineRenderer(plan: plan)
      var copyRenderer = OfflineRenderer(plan: copy)
      #expect(renderer.samples() == copyRenderer.samples(), "seed \(seed)")
    }
  }

  @Test func serializedPlanContainsSoundFiles() throws {
    let pattern = HapticPattern(events: [
      HapticEvent(kind: .audioCustom, time: 0, waveform: AudioWaveform(path: "a.wav")),
      HapticEvent(kind: .audioCustom, time: 0.1, waveform: AudioWaveform(path: "b.wav")),
    ])
    let tone = (0..<4_800).map { Float($0 % 100) / 200 }
    let samples = [
      "a.wav": AudioBuffer(interleaved: tone, channelCount: 1),
      "b.wav": AudioBuffer(interleaved: tone, channelCount: 2),
    ]
    let plan = try RenderPlan(compiling: pattern, samples: samples)
    let bytes = plan.serialized()
    let count = bytes.count
    let deserializedPlan = RenderPlan.deserialized(from: bytes, count: count)
    let copy = try #require(deserializedPlan)
    var renderer = OfflineRenderer(plan: plan)
    var copyRenderer = OfflineRenderer(plan: copy)
    #expect(renderer.samples() == copyRenderer.samples())
  }

  @Test func otherBytesAreNotAPlan() throws {
    let plan = try RenderPlan(compiling: HapticPattern())
    let count = plan.serialized().count
    #expect(RenderPlan.deserialized(from: plan.serialized(), count: count - 16) == nil)
    #expect(RenderPlan.deserialized(from: plan.serialized(), count: 8) == nil)
    #expect(RenderPlan.deserialized(from: damagedBytes(of: plan), count: count) == nil)
  }

  private func damagedBytes(of plan: RenderPlan) -> FixedBuffer<UInt8> {
    let bytes = plan.serialized()
    unsafe bytes.address.pointee ^= 1
    return bytes
  }

  @Test func addedSoundFileIsAudible() throws {
    let studio = Studio()
    let text = """
      {"Pattern":[{"Event":{"Time":0,"EventType":"AudioCustom","EventWaveformPath":"a.wav"}},
      {"Event":{"Time":0,"EventType":"HapticTransient"}}]}
      """
    studio.documents[0].open(SourceFile(Array(text.utf8), name: "a.ahap"))
    #expect(studio.findings(of: 0, profile: 0).contains { $0.rule == "sound-missing" })
    let samplesWithoutFile = try studio.renderSamples(of: 0, profile: 0, rate: 48_000)
    studio.soundsByPath["a.wav"] = DecodedSound(
      interleaved: (0..<4_410).map { Float($0 % 50) / 100 }, channelCount: 1,
      sampleRateHertz: 44_100)
    #expect(!studio.findings(of: 0, profile: 0).contains { $0.rule == "sound-missing" })
    let samplesWithFile = try studio.renderSamples(of: 0, profile: 0, rate: 48_000)
    #expect(samplesWithFile.count > samplesWithoutFile.count)
    func sum(_ samples: [Float]) -> Float { samples.prefix(4_000).reduce(0) { $0 + abs($1) } }
    #expect(sum(samplesWithFile) > sum(samplesWithoutFile))
  }

  @Test func scoreHasPathsAndEffectiveControls() throws {
    let studio = Studio()
    let text = """
      {"Pattern":[{"Event":{"Time":0,"EventType":"HapticContinuous","EventDuration":1,
      "EventParameters":[{"ParameterID":"HapticIntensity","ParameterValue":0.8}]}},
      {"Parameter":{"ParameterID":"HapticIntensityControl","Time":0.5,"ParameterValue":0.5}},
      {"ParameterCurve":{"ParameterID":"HapticSharpnessControl","Time":0.25,"ParameterCurveControlPoints":
      [{"Time":0.5,"ParameterValue":1},{"Time":0,"ParameterValue":0}]}}]}
      """
    studio.documents[0].open(SourceFile(Array(text.utf8), name: "a.ahap"))
    let score = try json(studio.drawableContentJSON(0))
    let event = try #require(score["events"]?.elements.first { _ in true })
    #expect(event["path"]?.string == "events[0]")
    let feltPoints = try #require(event["felt"]).elements.map { $0.number ?? .nan }
    #expect(abs(feltPoints[1] - 0.8) < 1e-6)
    #expect(abs(feltPoints[feltPoints.count - 2] - 0.4) < 1e-6)
    let curve = try #require(score["curves"]?.elements.first { _ in true })
    #expect(curve["points"]?.elements.map { $0.number ?? .nan } == [0, 0, 0.5, 1])
    #expect(curve["order"]?.elements.map { $0.number ?? .nan } == [1, 0])
    #expect(score["parameters"]?.elements.first { _ in true }?["path"]?.string == "parameters[0]")
  }

  @Test func findingsNameTheirPart() throws {
    let studio = Studio()
    let text =
      "{\"Pattern\":[{\"Event\":{\"Time\":0,\"EventType\":\"HapticTransient\"}},\n"
      + "{\"Event\":{\"Time\":0.01,\"EventType\":\"HapticTransient\"}}]}"
    studio.documents[0].open(SourceFile(Array(text.utf8), name: "a.ahap"))
    let findings = try json(studio.findingsJSON(0, profile: 0))
    let gap = try #require(findings.elements.first { $0["rule"]?.string == "transient-gap" })
    #expect(gap["path"]?.string == "events[1]")
    #expect(gap["line"]?.number == 2)
  }

  @Test func columnsHaveTheirExtremes() {
    #expect(Studio.columnExtremes(of: [1, -1, 0.5, 0.25], columns: 2) == [-1, 1, 0.25, 0.5])
    #expect(Studio.columnExtremes(of: [], columns: 2) == [])
    #expect(Studio.columnExtremes(of: [0.5], columns: 2) == [0.5, 0.5, 0.5, 0.5])
  }

  @Test func sineAppearsInItsRow() {
    let sine = (0..<48_000).map { Float(sin(2 * .pi * 205 * Double($0) / 48_000)) }
    let picture = Spectrogram.cellDecibels(
      of: sine, rate: 48_000, columns: 10, rows: 50, upToHertz: 500)
    let column = Array(picture[5 * 50..<6 * 50])
    #expect(column.firstIndex(of: column.max() ?? 0) == 20)
    #expect(abs(column[20]) < 0.5)
    #expect(column[40] < -40)
  }
}
