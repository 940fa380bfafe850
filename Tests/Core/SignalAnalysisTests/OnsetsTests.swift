import HapticModel
import ShippedFiles
import SignalAnalysis
import Testing

struct OnsetsTests {
  /// Taps in opposite phase to an equally strong hum. They lower the level, so the level rises only
  /// at their end.
  private static let concealedOnsets: [String: [Double]] = [
    "earthquake-simulation": [2.9, 2.917, 2.9205]
  ]

  /// Every transient that is 50 ms apart from other starts is detected within 1.2 ms. No onset is
  /// detected without the start of an event.
  @Test(arguments: ShippedPatterns.names) func shippedStartsAreFound(name: String) throws {
    let (pattern, samples) = try RenderedPatterns.shippedPattern(name)
    let onsets = Onsets(in: Signal(samples, rate: 48_000))
    let concealedTimes = Self.concealedOnsets[name] ?? []
    for event in pattern.events where event.kind == .hapticTransient {
      let others = pattern.events.filter { $0.time != event.time }
      let isApart = others.allSatisfy { abs($0.time - event.time) > 0.0499 }
      guard isApart, !concealedTimes.contains(event.time) else { continue }
      #expect(
        onsets.contains { abs($0.timeSeconds - event.time) < 0.001_2 }, "\(event.time) of \(onsets)"
      )
    }
    for onset in onsets {
      let isExpected =
        pattern.events.contains { event in
          // A start shortly after another start is detected slightly late.
          let isClose = pattern.events.contains { (0.001...0.025).contains(event.time - $0.time) }
          return abs(event.time - onset.timeSeconds) < (isClose ? 0.002_5 : 0.001_2)
        } || concealedTimes.contains { abs($0 - onset.timeSeconds) < 0.001_2 }
      #expect(isExpected, "\(onset)")
    }
  }

  @Test func steadyHumHasItsStartOnly() {
    for hertz in [25.0, 40, 80, 230, 400] {
      let hum = TestSignal.mix(
        TestSignal.silence(seconds: 2.3),
        [(0.2, TestSignal.sine(hertz: hertz, seconds: 2, amplitude: 0.5))])
      let onsets = Onsets(in: Signal(hum, rate: 48_000))
      #expect(onsets.count == 1, "\(hertz): \(onsets)")
      #expect(abs((onsets.first?.timeSeconds ?? 0) - 0.2) < 0.001, "\(hertz): \(onsets)")
      #expect(abs((onsets.first?.amplitudeAfterOnset ?? 0) - 0.5) < 0.03)
    }
  }

  /// Slow bursts whose level rises over their periods, and tones with an attack of 50 ms.
  @Test(arguments: [28.0, 40, 60, 110, 175, 240]) func eachSwellHasOneStart(hertz: Double) {
    let tone = TestSignal.sine(hertz: hertz, seconds: 0.45, amplitude: 0.5).enumerated().map {
      frame, sample in
      sample * Float(min(frame, 2_400)) / 2_400
    }
    let starts = [0.3, 0.8, 1.3]
    for sound in [TestSignal.swell(hertz: hertz, seconds: 3 / hertz), tone] {
      let signal = TestSignal.mix(TestSignal.silence(seconds: 2), starts.map { ($0, sound) })
      let onsets = Onsets(in: Signal(signal, rate: 48_000))
      #expect(onsets.count == 3, "\(hertz): \(onsets.map(\.timeSeconds))")
      for (onset, start) in zip(onsets, starts) {
        #expect((-0.001...0.03).contains(onset.timeSeconds - start))
      }
    }
  }

  /// Taps 20 ms and more apart.
  @Test(arguments: [20.0, 23, 27, 35]) func attacksTwentyMillisecondsApartStayTwo(
    milliseconds: Double
  ) {
    for hertz in [120.0, 150, 180, 230] {
      let taps = [(0.1, 0.2), (0.1 + milliseconds / 1_000, 0.4)]
      let pair = TestSignal.mix(
        TestSignal.silence(seconds: 0.5),
        taps.map { ($0.0, TestSignal.tap(hertz: hertz, amplitude: $0.1)) })
      #expect(Onsets(in: Signal(pair, rate: 48_000)).count == 2, "\(hertz)")
    }
  }

  @Test func fadesHaveNoOnset() {
    let tone = TestSignal.sine(hertz: 100, seconds: 2)
    let fade = tone.enumerated().map { index, sample in
      sample * Float(min(index, tone.count - index)) / 48_000
    }
    #expect(Onsets(in: Signal(fade, rate: 48_000)).isEmpty)
  }

  @Test func glideAndBeatHaveNone() {
    let glide = TestSignal.glide(from: 60, to: 250, seconds: 1.5)
    #expect(Onsets(in: Signal(glide, rate: 48_000)).count == 1)
    let beat = TestSignal.mix(
      TestSignal.sine(hertz: 80, seconds: 2, amplitude: 0.4),
      [(0, TestSignal.sine(hertz: 97, seconds: 2, amplitude: 0.4))])
    #expect(Onsets(in: Signal(beat, rate: 48_000)).count == 1)
  }

  @Test func silenceAndNoiseHaveNone() {
    #expect(Onsets(in: Signal([], rate: 48_000)).isEmpty)
    #expect(Onsets(in: Signal(TestSignal.silence(seconds: 1), rate: 48_000)).isEmpty)
    #expect(Onsets(in: Signal([Float](repeating: .nan, count: 9_000), rate: 48_000)).isEmpty)
    let noise = Onsets(in: Signal(TestSignal.noise(seconds: 3, amplitude: 0.3), rate: 48_000))
    #expect(noise.allSatisfy { $0.timeSeconds < 0.02 })
  }

  @Test(arguments: [8_000.0, 44_100, 96_000]) func tapsOnAHumAreFound(rate: Double) {
    let times = [0.5, 0.61, 0.93]
    let signal = TestSignal.mix(
      TestSignal.sine(hertz: 80, rate: rate, seconds: 1.5, amplitude: 0.2),
      times.map { ($0, TestSignal.tap(hertz: 190, rate: rate, amplitude: 0.4)) }, rate: rate)
    let onsets = Onsets(in: Signal(signal, rate: rate)).filter { $0.timeSeconds > 0.1 }
    #expect(onsets.count == times.count)
    for (onset, time) in zip(onsets, times) {
      #expect(abs(onset.timeSeconds - time) < 0.001_5)
    }
  }

  /// Weak taps after strong ones, as close as 50 ms.
  @Test func weakTapsAreFound() {
    let taps = [(0.1, 0.4), (0.15, 0.1), (0.2, 0.4), (0.25, 0.05)]
    let signal = TestSignal.mix(
      TestSignal.silence(seconds: 0.4),
      taps.map { ($0.0, TestSignal.tap(hertz: 150, amplitude: $0.1)) })
    let onsets = Onsets(in: Signal(signal, rate: 48_000))
    #expect(onsets.count == taps.count)
    for (onset, tap) in zip(onsets, taps) {
      #expect(abs(onset.timeSeconds - tap.0) < 0.001)
      #expect(abs(onset.amplitudeAfterOnset - tap.1) < 0.02)
    }
  }

  /// Twenty pairs of short taps 10 ms apart.
  @Test func tapsTenMillisecondsApartAreTwo() {
    var missedCount = 0
    for number in 0..<20 {
      let start = 0.1 + 0.000_37 * Double(number)
      let signal = TestSignal.mix(
        TestSignal.silence(seconds: 0.3),
        [0, 0.01].map { (start + $0, TestSignal.tap(hertz: 240, amplitude: 0.4)) })
      let onsets = Onsets(in: Signal(signal, rate: 48_000))
      if onsets.count != 2 {
        missedCount += 1
      }
    }
    #expect(missedCount == 0)
  }

  /// Twenty taps on a hum, as strong as the hum and 6 dB weaker, at many of its phases.
  @Test(arguments: [40.0, 80, 150], [60.0, 120, 170, 200]) func tapsOnHumsAreFound(
    hum: Double, tap: Double
  ) {
    for (tapToHumRatio, minimumCount) in [(1.0, 20), (0.5, 19)] {
      tapsOnHumsAreFound(
        hum: hum, tap: tap, tapToHumRatio: tapToHumRatio, minimumCount: minimumCount)
    }
  }

  /// A tone that pauses for three of its periods starts again after the pause.
  @Test func aPauseIsNoTap() {
    let hum = TestSignal.sine(hertz: 80, seconds: 2, amplitude: 0.4).enumerated().map {
      frame, sample in
      (48_000..<49_800).contains(frame) ? 0 : sample
    }
    let onsets = Onsets(in: Signal(hum, rate: 48_000)).filter { $0.timeSeconds > 0.1 }
    #expect(onsets.count == 1)
    #expect(abs((onsets.first?.timeSeconds ?? 0) - 1.0375) < 0.002, "\(onsets)")
  }

  /// Taps are also detected in noise 30 dB below the hum.
  @Test func tapsOnANoisyHumAreFound() {
    let times = (0..<20).map { 0.3 + 0.1137 * Double($0) }
    let signal = TestSignal.mix(
      TestSignal.sine(hertz: 80, seconds: 2.8, amplitude: 0.3),
      times.map { ($0, TestSignal.tap(hertz: 120, amplitude: 0.3)) } + [
        (0, TestSignal.noise(seconds: 2.8, amplitude: 0.0116))
      ])
    let onsets = Onsets(in: Signal(signal, rate: 48_000)).filter { $0.timeSeconds > 0.1 }
    #expect(
      times.filter { time in onsets.contains { abs($0.timeSeconds - time) < 0.003 } }.count == 20)
    #expect(onsets.count == 20)
  }

  private func tapsOnHumsAreFound(
    hum: Double, tap: Double, tapToHumRatio: Double, minimumCount: Int
  ) {
    let times = (0..<20).map { 0.3 + 0.1137 * Double($0) }
    let signal = TestSignal.mix(
      TestSignal.sine(hertz: hum, seconds: 2.8, amplitude: 0.3),
      times.map { ($0, TestSignal.tap(hertz: tap, amplitude: 0.3 * tapToHumRatio)) })
    let onsets = Onsets(in: Signal(signal, rate: 48_000))
    let detectedTimes = times.filter { time in
      onsets.contains { abs($0.timeSeconds - time) < 0.003 }
    }
    let falseOnsets = onsets.filter { onset in
      onset.timeSeconds > 0.1 && !times.contains { abs(onset.timeSeconds - $0) < 0.02 }
    }
    #expect(detectedTimes.count >= minimumCount, "\(detectedTimes.count)")
    #expect(falseOnsets.count <= 20 - minimumCount, "\(falseOnsets)")
  }
}
