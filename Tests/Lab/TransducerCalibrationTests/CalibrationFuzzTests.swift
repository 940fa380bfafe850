import TestSupport
import Testing
import TransducerCalibration

/// A recording of something else is refused with a reason, never measured and never a crash.
@Suite struct CalibrationFuzzTests {
  @Test func noiseTonesAndFragmentsAreRefused() throws {
    let signal = try SweepSignal(bandHertz: 10...800, sweepSeconds: 0.5)
    let sweep = try signal.samples(rate: 8_000)
    var chance = SplitMixGenerator(state: 3)
    for number in 0..<InputMutator.caseCount(default: 12) {
      var samples = [Float](repeating: 0, count: sweep.count + 8_000)
      for index in samples.indices {
        switch number % 4 {
        case 0: samples[index] = Float(chance.normalValue() * 0.1)
        case 1: samples[index] = index % (20 + number) < 10 ? 0.3 : -0.3
        case 2: samples[index] = chance.fraction() < 0.001 ? .nan : Float(chance.fraction())
        default: samples[index] = index < sweep.count / 8 ? sweep[index] : 0
        }
      }
      do throws(CalibrationError) {
        _ = try Calibration(
          measuring: CalibrationRecording(samples: samples, sampleRate: 8_000), of: signal)
        Issue.record("case \(number) was measured")
      } catch {
        #expect(InputMutator.isOneLine(error.description))
      }
    }
  }
}
