import Foundation
import HapticRender
import Testing
import TransducerCalibration

@Suite struct FittingTests {
  @Test(arguments: 1...20)
  func aNoisyRecordingGivesTheFigures(seed: UInt64) throws {
    var chance = Chance(state: seed &* 7_919)
    let resonance = 20 * pow(10, chance.share())
    let quality = pow(30, chance.share())
    var studio = try RecordingStudio()
    studio.latency = 50 + 5_950 * chance.share()
    studio.gain = pow(10, -2 * chance.share()) * (chance.share() < 0.5 ? -1 : 1)
    studio.seed = seed
    let recording = try studio.record([(resonance, quality, 1)])
    let found = try Calibration(measuring: recording, of: studio.signal)
    #expect(abs(found.resonance / resonance - 1) < 0.01)
    #expect(abs(found.quality / quality - 1) < 0.05)
    #expect(abs(found.offset * studio.rate - studio.latency) < 1)
    #expect(abs(found.gain / abs(studio.gain) - 1) < 0.05)
    #expect(found.isInverted == (studio.gain < 0))
    #expect(found.sensor == .acceleration)
  }
}
