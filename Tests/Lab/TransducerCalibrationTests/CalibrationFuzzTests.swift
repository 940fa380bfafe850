import TestSupport
import Testing
import TransducerCalibration

/// Recordings of other signals are rejected with a reason. They are neither measured nor cause a
/// crash.
@Suite struct CalibrationFuzzTests {
  @Test func noiseTonesAndFragmentsAreRejected() throws {
    let signal = try SweepSignal(bandHertz: 10...800, sweepSeconds: 0.5)
    let sweep = try signal.samples(rate: 8_000)
    var generator = SplitMixGenerator(state: 3)
    for caseIndex in 0..<InputMutator.caseCount(default: 12) {
      var samples = [Float](repeating: 0, count: sweep.count + 8_000)
      for index in samples.indices {
        switch caseIndex % 4 {
        case 0: samples[index] = Float(generator.normalValue() * 0.1)
        case 1: samples[index] = index % (20 + caseIndex) < 10 ? 0.3 : -0.3
        case 2: samples[index] = generator.fraction() < 0.001 ? .nan : Float(generator.fraction())
        default: samples[index] = index < sweep.count / 8 ? sweep[index] : 0
        }
      }
      do throws(CalibrationError) {
        _ = try Calibration(
          measuring: CalibrationRecording(samples: samples, sampleRate: 8_000), of: signal)
        Issue.record("case \(caseIndex) was measured")
      } catch {
        #expect(InputMutator.isOneLine(error.description))
      }
    }
  }
}
