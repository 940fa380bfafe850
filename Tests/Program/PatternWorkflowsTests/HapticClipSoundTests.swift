import Foundation
import HapticFormats
import VendorFormats
import HapticModel
import HapticRender
import TestSupport
import Testing
import TransducerProfiles

@testable import PatternWorkflows

/// The sound of haptic clips, compared with that of Meta's own renderer.
@Suite struct HapticClipSoundTests {
  private static let rate = 8_000.0
  private static let window = 160

  private func samples(_ composition: HapticComposition) throws -> [Float] {
    let quest = try #require(ProfileCatalog.profile(named: "meta-quest"))
    let plan = try RenderPlan(compiling: composition, profile: quest, rate: Self.rate)
    var renderer = OfflineRenderer(plan: plan)
    return renderer.samples()
  }

  /// Returns the samples of a WAVE file with one channel of floats.
  private func floats(of file: SourceFile) throws -> [Float] {
    let bytes = file.bytes
    let dataChunkStart = try #require(
      bytes.indices.dropLast(8).first { Array(bytes[$0..<$0 + 4]) == Array("data".utf8) })
    return stride(from: dataChunkStart + 8, to: bytes.count - 3, by: 4).map { start in
      Float(bitPattern: (0..<4).reduce(0) { $0 | UInt32(bytes[start + $1]) << UInt32(8 * $1) })
    }
  }

  private func levels(_ samples: [Float]) -> [Double] {
    stride(from: 0, to: samples.count - Self.window, by: Self.window).map { start in
      let sum = samples[start..<start + Self.window].reduce(0.0) { $0 + Double($1 * $1) }
      return (sum / Double(Self.window)).squareRoot()
    }
  }

  @Test func levelsEqualMetasRendererWithoutTransients() throws {
    guard FormatsCorpus.folder != nil else { return }
    var deviationsDecibels: [Double] = []
    for file in try FormatsCorpus.files(in: "haptic", suffix: ".haptic") {
      let composition = try FormatRegistry.standard.read(file)
      let transientTimes = composition.layers.dropFirst().flatMap(\.pattern.events).map(\.time)
      var continuous = HapticComposition(layers: [composition.layers[0]])
      // Meta maps frequency to hertz differently. Equal hertz give windows with equal parts of
      // cycles.
      for index in continuous.layers[0].pattern.curves.indices
      where continuous.layers[0].pattern.curves[index].id == .hapticSharpnessControl {
        continuous.layers[0].pattern.curves[index].interpolation = .linear
      }
      let referenceName = file.name.replacing(".haptic", with: ".quest-8000.wav")
      let referenceFile = try FormatsCorpus.file("haptic/\(referenceName)")
      let referenceLevels = levels(try floats(of: referenceFile))
      let renderedLevels = levels(try samples(continuous))
      for (index, pair) in zip(renderedLevels, referenceLevels).enumerated() where pair.1 > 0.02 {
        let time = Double(index * Self.window) / Self.rate
        guard !transientTimes.contains(where: { (time - 0.02...time + 0.06).contains($0 + 0.02) })
        else {
          continue
        }
        deviationsDecibels.append(abs(20 * log10(2 * pair.0 / pair.1)))
      }
    }
    deviationsDecibels.sort()
    #expect(deviationsDecibels.count > 500)
    #expect((deviationsDecibels.last ?? 9) <= 0.5)
  }

  /// The files that both SDKs merge would scale the second transient by the envelope below it.
  @Test func transientIsIndependentOfItsEnvelope() throws {
    func tap(above level: Double) throws -> [Float] {
      func clip(_ emphasis: String) throws -> [Float] {
        let text = """
          {"version": {"major": 1}, "signals": {"continuous": {"envelopes": {"amplitude": [
            {"time": 0, "amplitude": \(level)},
            {"time": 0.5, "amplitude": \(level)\(emphasis)},
            {"time": 1, "amplitude": \(level)}]}}}}
          """
        let composition = try FormatRegistry.standard.read(
          SourceFile(Array(text.utf8), name: "a.haptic"))
        let plan = try RenderPlan(compiling: composition, profile: .phone, rate: Self.rate)
        var renderer = OfflineRenderer(plan: plan)
        return renderer.samples()
      }
      let withTransient = try clip(#", "emphasis": {"amplitude": 0.5, "frequency": 0.5}"#)
      let withoutTransient = try clip("")
      return zip(withTransient, withoutTransient).map { $0 - $1 }
    }
    let quiet = try tap(above: 0)
    let loud = try tap(above: 0.4)
    #expect((quiet.map(abs).max() ?? 0) > 0.1)
    #expect(zip(quiet, loud).allSatisfy { abs($0 - $1) < 1e-4 })
    // The onset is exact to the frame.
    #expect(quiet.firstIndex { abs($0) > 1e-6 }.map { abs($0 - 4000) <= 1 } == true)
  }
}
