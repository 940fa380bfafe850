import Glibc
import HapticRender
import TestSupport
import Testing
import TransducerCalibration

@Suite struct RefusalTests {
  /// Why a recording says nothing.
  private func refusal(_ recording: CalibrationRecording, of signal: SweepSignal, acceptsPoor: Bool = false)
    -> CalibrationError?
  {
    do {
      _ = try Calibration(measuring: recording, of: signal, acceptsPoor: acceptsPoor)
      return nil
    } catch { return error }
  }

  private func recording(_ samples: [Float], rate: Double = 8_000) -> CalibrationRecording {
    CalibrationRecording(samples: samples, rate: rate)
  }

  @Test func whatHoldsNoSignalIsRefusedBeforeAnyWork() throws {
    let signal = try SweepSignal(band: 10...800, duration: 2)
    func told(_ samples: [Float], rate: Double = 8_000) -> String? {
      refusal(recording(samples, rate: rate), of: signal)?.description
    }
    let long = [Float](repeating: 0, count: 60_000)
    #expect(told([]) == "is empty")
    #expect(told(long) == "contains only silence")
    #expect(told(Array(long.prefix(20_000))) == "lasts 2.5 s; the two sweeps take 5.5 s")
    #expect(told(long, rate: 100) == "is at 100 Hz; supported: 4000 to 384000 Hz")
    #expect(told(long, rate: .nan) == "is at nan Hz; supported: 4000 to 384000 Hz")
    let fast = try SweepSignal(band: 10...2_000, duration: 2)
    #expect(
      refusal(recording(long, rate: 4_000), of: fast)?.description
        == "is at 4000 Hz; a sweep up to 2000 Hz needs 5000 Hz")
    #expect(
      told([Float](repeating: 0, count: 4_000 * 181), rate: 4_000) == "lasts 181 s; cut it to the signal, at most 180 s"
    )
    for bad in [Float.nan, .infinity, -.infinity, 1e30] {
      var broken = long
      broken[12_340] = bad
      #expect(told(broken) == "contains NaN or infinity at 1.54 s")
    }
  }

  @Test func noiseIsNoSweep() throws {
    let signal = try SweepSignal(band: 10...800, duration: 2)
    var chance = Chance(state: 5)
    let noise = (0..<60_000).map { _ in Float(0.1 * chance.normal()) }
    #expect(
      refusal(recording(noise), of: signal)
        == CalibrationError(
          kind: .unsuitableRecording, description: "contains no sweep from 10 to 800 Hz of 2 s above the noise"))
  }

  @Test(arguments: [0.5, 0.9]) func clippedPeaksAreSeen(part: Float) throws {
    let studio = try RecordingStudio()
    let clean = try studio.record([(40, 5, 1)])
    let limit = part * clean.samples.reduce(0) { max($0, abs($1)) }
    let clipped = recording(clean.samples.map { min(max($0, -limit), limit) })
    let found = try #require(refusal(clipped, of: studio.signal))
    #expect(found.kind == .clipped)
    #expect(found.description.hasPrefix("is clipped at 4."))
    #expect(found.description.hasSuffix(" s; lower the recorder's gain"))
  }

  @Test func fullScaleCountsAsClipped() throws {
    var studio = try RecordingStudio()
    studio.signalToNoise = 60
    studio.gain = 8
    let hot = try studio.record([(40, 5, 1)]).samples.map { min(max($0, -1), 0.99997) }
    #expect(refusal(recording(hot), of: studio.signal)?.kind == .clipped)
  }

  @Test(arguments: [(40.0, 5.0), (20, 0.7)]) func wholeNumbersAloneAreNoClipping(
    resonance: Double, qualityFactor: Double
  ) throws {
    var studio = try RecordingStudio()
    studio.signalToNoise = nil
    let clean = try studio.record([(resonance, qualityFactor, 1)])
    let coarse = recording(clean.samples.map { ($0 * 2_048).rounded() / 2_048 })
    #expect(refusal(coarse, of: studio.signal) == nil)
  }

  @Test func whatIsTooQuietIsTold() throws {
    var studio = try RecordingStudio()
    studio.gain = 0.05
    studio.signalToNoise = -6
    let found = try #require(refusal(studio.record([(40, 5, 1)]), of: studio.signal))
    #expect(found.kind == .tooQuiet)
    #expect(found.description.hasPrefix("is too quiet: the sweeps are "))
    #expect(found.description.hasSuffix(" dB above the noise, at least 6 dB are required"))
  }

  @Test func oneSweepIsNotEnough() throws {
    let studio = try RecordingStudio()
    let both = try studio.record([(40, 5, 1)]).samples
    let first = Array(both.prefix(24_000)) + [Float](repeating: 0, count: 40_000)
    #expect(
      refusal(recording(first), of: studio.signal)
        == CalibrationError(
          kind: .unsuitableRecording,
          description: "contains only one sweep, at 0.51 s; record from before the first to after the second"))
    let second = Array(both.dropFirst(16_000)) + [Float](repeating: 0, count: 40_000)
    #expect(
      refusal(recording(second), of: studio.signal)?.description
        == "contains only one sweep, at 2.01 s; record from before the first to after the second")
  }

  @Test func aRecordingThatBeginsInTheFirstSilenceWillDo() throws {
    let studio = try RecordingStudio()
    let late = try Array(studio.record([(40, 5, 1)]).samples.dropFirst(3_900))
    let found = try Calibration(measuring: recording(late), of: studio.signal)
    #expect(abs(found.offset * 8_000 + 3_820) < 1)
  }

  @Test func anotherRateIsTold() throws {
    let studio = try RecordingStudio()
    let mislabelled = try recording(studio.record([(40, 5, 1)]).samples, rate: 7_350)
    #expect(
      refusal(mislabelled, of: studio.signal)
        == CalibrationError(
          kind: .clockMismatch,
          description: "has its sweeps 3.81 s apart, not 3.5 s: the recording has another sample rate or signal"))
  }

  @Test(arguments: [(500.0, "fast"), (-500, "slow")]) func aForeignClockIsTold(partsInAMillion: Double, word: String)
    throws
  {
    var studio = try RecordingStudio()
    studio.clockError = partsInAMillion
    #expect(
      refusal(try studio.record([(40, 5, 1)]), of: studio.signal)
        == CalibrationError(
          kind: .clockMismatch,
          description: "has a sample clock that is 500 ppm too \(word); record on the device that plays the signal"))
  }

  @Test func aGainThatChangesIsTold() throws {
    let studio = try RecordingStudio()
    let halved = try studio.record([(40, 5, 1)]).samples.enumerated().map { $0 > 30_000 ? $1 / 2 : $1 }
    #expect(
      refusal(recording(halved), of: studio.signal)
        == CalibrationError(
          kind: .unsuitableRecording,
          description:
            "has its second sweep only -0.1 dB above the first, not 6 dB; record the signal of this version, with automatic gain control off"
        ))
  }

  @Test func sweepsThatDifferAreTold() throws {
    var studio = try RecordingStudio()
    studio.signalToNoise = 40
    let sound = try studio.record([(40, 5, 1)]).samples
    let moved = sound.enumerated().map { $0 > 30_000 ? 0.66 * $1 : $1 }
    let found = try #require(refusal(recording(moved), of: studio.signal))
    #expect(found.kind == .unsuitableRecording)
    #expect(found.description.hasPrefix("has two sweeps that differ by "))
    #expect(found.description.hasSuffix(" %; avoid movement and noise, and record again"))
  }

  /// Springs that stiffen or soften with movement, and what compresses.
  @Test func whatChangesWithTheLevelIsTold() throws {
    var studio = try RecordingStudio()
    studio.signalToNoise = 40
    let played = try studio.signal.samples(rate: studio.rate, isWhole: false).map(Double.init)
    func told(_ stiffening: Double, limit: Double = .infinity) throws -> CalibrationError? {
      var plant = SimulatedCoil(resonance: 40, qualityFactor: 5)
      plant.stiffening = stiffening
      let moved = plant.acceleration(for: played, rate: studio.rate)
      let peak = moved.reduce(0) { max($0, abs($1)) }
      let heard = moved.map { limit < .infinity ? limit * peak * tanh($0 / peak / limit) : $0 }
      return refusal(studio.finish(heard), of: studio.signal)
    }
    #expect(try told(0) == nil)
    let stiff = try #require(try told(2))
    #expect(stiff.kind == .changesWithLevel)
    let words = "changes with the level: the resonance of the louder sweep is "
    #expect(stiff.description.hasPrefix(words))
    #expect(
      stiff.description.hasSuffix(
        " % higher, as where a spring stiffens with movement; use a lower '--level', or '--accept-poor'"))
    let soft = try #require(try told(-2))
    #expect(soft.description.contains(" % lower, as where a spring softens with movement; "))
    let pressed = try #require(try told(0, limit: 0.7))
    #expect(pressed.kind == .changesWithLevel)
    #expect(
      pressed.description.hasSuffix(
        " % lower, as where the recorder or the amplifier compresses; lower their gains, or use a lower '--level', or '--accept-poor'"
      ))
  }

  @Test func manyResonancesAreNotAFew() throws {
    let studio = try RecordingStudio()
    var chance = Chance(state: 3)
    let room = try studio.record(
      (0..<14).map { mode in
        (20 + 14 * Double(mode) + 8 * chance.share(), 8 + 17 * chance.share(), chance.share() < 0.5 ? -0.6 : 0.6)
      })
    let found = try #require(refusal(room, of: studio.signal, acceptsPoor: true))
    #expect(found.kind == .noResonance)
    #expect(found.description.contains(" only "))
    let question = " % of the recorded power; is the sensor on the transducer?"
    #expect(found.description.hasSuffix(question))
  }

  @Test func aPoorFitMustBeInsistedOn() throws {
    let studio = try RecordingStudio()
    let crowd = [(40.0, 5.0, 1.0), (62, 12, 0.25), (95, 15, -0.25), (140, 20, 0.25), (210, 14, 0.25), (300, 12, 0.25)]
    let mixed = try studio.record(crowd)
    let found = try #require(refusal(mixed, of: studio.signal))
    #expect(found.kind == .noResonance)
    #expect(
      found.description.hasSuffix(
        "; a room's echo or a further resonance is in it: put the sensor on the transducer, not near it, or use '--accept-poor'"
      ))
    let poor = try Calibration(measuring: mixed, of: studio.signal, acceptsPoor: true)
    #expect(poor.isPoor)
    #expect(poor.warnings.first == "The fit is poor; the values are marked as estimates.")
    let profile = poor.applied(to: .phone, in: Calibration.Conditions(date: "today"))
    #expect(profile.hardware?.estimated == ["resonance", "qualityFactor"])
  }

  @Test func aWireIsNoTransducer() throws {
    let studio = try RecordingStudio()
    #expect(
      refusal(try studio.recordLoop(), of: studio.signal)
        == CalibrationError(kind: .noResonance, description: "shows no resonance between 10 and 800 Hz"))
  }

  @Test func aTransducerIsNoReference() throws {
    let studio = try RecordingStudio()
    #expect(throws: CalibrationError.self) {
      try ReferenceDelay(measuring: studio.record([(40, 5, 1)]), of: studio.signal)
    }
  }
}
