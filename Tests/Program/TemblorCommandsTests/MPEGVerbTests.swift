import Foundation
import HapticFormats
import HapticModel
import HapticRender
import PatternWorkflows
import SystemSupport
import TestSupport
import Testing

@testable import CommandLineKit
@testable import TemblorCommands

/// Files of MPEG haptics in every verb. Signals that are not events are rendered, shown, and
/// compared.
@Suite struct MPEGVerbTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    // A curve that begins 50 ms after the start: five cycles of a triangle of 100 Hz.
    let keyframes = (0...20).map { index in
      let value = index % 2 == 0 ? 0.0 : index % 4 == 1 ? 0.4 : -0.4
      return "{\"relative_position\": \(index * 25), \"amplitude_modulation\": \(value)}"
    }
    try folder.write(
      """
      {"version": "2023", "profile": "Main", "level": 1, "date": "2026-11-21", "descript\
      ion": "late",
      "timescale": 10000, "avatars": [], "syncs": [], "perceptions": [{"id": 0, "avatar_id": 0,
      "description": "", "perception_modality": "Vibrotactile", "effect_library": [], "channels":
      [{"id": 0, "description": "c", "gain": 1, "mixing_coefficient": 1, "bands": [{"band_type":
      "Curve", "curve_type": "Linear", "lower_frequency_limit": 0, "upper_frequency_limit": 1000,
      "effects": [{"effect_type": "Basis", "position": 500, "keyframes":
      [\(keyframes.joined(separator: ", "))]}]}]}]}]}
      """, to: "late.hjif")
  }

  @Test func verbsAcceptASampledSignal() throws {
    let file = folder("late.hjif")
    let info = TemblorProgram.run("info", file)
    #expect(info.status == .success && info.output.contains("contents   1 sampled signal"))
    #expect(info.output.contains("length     0.1 s"), "\(info.output)")
    let check = TemblorProgram.run("check", file)
    #expect(check.status == .success && check.output == "", "\(check.output)\(check.error)")
    let plot = TemblorProgram.run("plot", file, "-o", folder("late.svg"))
    #expect(plot.status == .success, "\(plot.error)")
    let render = TemblorProgram.run("render", file, "--profile", "mpeg", "-o", folder("late.wav"))
    #expect(render.status == .success, "\(render.error)")
    let compare = TemblorProgram.run("compare", file, file)
    #expect(compare.status == .success, "\(compare.error)")
    let gallery = TemblorProgram.run("gallery", folder.path, "-o", folder("index.html"))
    #expect(gallery.status == .success, "\(gallery.error)")
  }

  @Test func unwritableFormatsAreRefused() throws {
    let file = folder("late.hjif")
    let convert = TemblorProgram.run("convert", file, "-o", folder("late.hmpg"))
    #expect(
      convert.status == .usageError && convert.error.contains("the format hmpg cannot be written"),
      "\(convert.error)")
    #expect(
      TemblorProgram.run("convert", "--strict", file, "-o", folder("late.ahap")).status
        == .invalidInput)
    #expect(FileSystem.entryKind(at: folder("late.ahap")) != .file)
  }

  /// Returns the sound that a render job makes of a file at 8 kHz, and the samples in the file.
  private func rendered(_ file: String) throws -> (sound: [Float], fileSamples: [Float]) {
    var job = RenderJob()
    job.sampleRateHertz = 8_000
    let input = try #require(PatternInput.find([folder(file)]).inputs.first)
    let (plan, pattern) = try job.loadPlan(input)
    var renderer = OfflineRenderer(plan: plan)
    return (renderer.samples(), pattern.composition.layers[0].signals.first?.samples ?? [])
  }

  @Test func signalsAreHeardAtTheirTime() throws {
    let lateSound = try rendered("late.hjif").sound
    #expect(lateSound.prefix(395).allSatisfy { abs($0) < 1e-3 })
    #expect(lateSound.contains { $0 > 0.2 })
    try folder.write(
      try String(contentsOfFile: folder("late.hjif"), encoding: .utf8).replacing(
        "\"position\": 500", with: "\"position\": 0"), to: "now.hjif")
    let (sound, fileSamples) = try rendered("now.hjif")
    // The signal has a rate of 48 kHz, and the job uses every sixth sample.
    #expect(fileSamples.count == 2_401)
    // Full intensity of the profile is 0.44; the DC blocker hardly attenuates 100 Hz.
    for frame in 8..<392 {
      #expect(abs(sound[frame] - 0.44 * fileSamples[6 * frame]) < 0.02)
    }
  }
}
