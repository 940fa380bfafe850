import Glibc
import SignalAnalysis
import Testing

struct SignalAlignmentTests {
  private let rate = 48_000.0

  private func tap(at time: Double, amplitude: Double = 1) -> [Float] {
    TestSignal.mix(
      TestSignal.silence(seconds: 1), [(time, TestSignal.tap(hertz: 100, amplitude: amplitude))])
  }

  @Test(arguments: [-0.3, -0.008, 0, 0.012, 0.45]) func lagIsFound(lag: Double) throws {
    let alignment = try #require(
      SignalAlignment.bestMatch(tap(at: 0.4), tap(at: 0.4 + lag), rate: rate))
    #expect(abs(alignment.lagSeconds - lag) < 0.000_001)
    #expect(alignment.correlation > 0.9999)
  }

  @Test(arguments: [0.25, 0.5, 7.3]) func partsOfFramesAreFound(frames: Double) throws {
    let sine = TestSignal.sine(hertz: 120, seconds: 0.5)
    let delayedSine = TestSignal.sine(
      hertz: 120, seconds: 0.5, phase: -2 * .pi * 120 * frames / rate)
    let padding = TestSignal.silence(seconds: 0.1)
    let alignment = try #require(
      SignalAlignment.bestMatch(
        padding + sine + padding, padding + delayedSine + padding, rate: rate, maximumLag: 0.003))
    #expect(abs(alignment.lagSeconds * rate - frames) < 0.1)
  }

  @Test func lagBeyondTheLimitIsNotSearched() throws {
    let alignment = try #require(
      SignalAlignment.bestMatch(tap(at: 0.1), tap(at: 0.5), rate: rate, maximumLag: 0.1))
    #expect(abs(alignment.lagSeconds) <= 0.1)
    #expect(alignment.correlation < 0.1)
  }

  @Test func silenceHasNoAlignment() {
    let silence = TestSignal.silence(seconds: 0.1)
    #expect(SignalAlignment.bestMatch(silence, tap(at: 0.1), rate: rate) == nil)
    #expect(SignalAlignment.bestMatch([], [], rate: rate) == nil)
  }
}

struct SignalTests {
  @Test func interleavedSamplesBecomeChannels() {
    let signal = Signal(interleaved: [1, 2, 3, 4, 5], channelCount: 2, rate: 8_000)
    #expect(signal.channels == [[1, 3], [2, 4]])
    #expect(signal.frameCount == 2)
    #expect(signal.durationSeconds == 0.000_25)
  }

  @Test func monoIsTheMeanOfTheChannels() {
    #expect(Signal(channels: [[1, 0], [0, 0.5]], rate: 8_000).mono == [0.5, 0.25])
    #expect(Signal(channels: [[0.25]], rate: 8_000).mono == [0.25])
    #expect(Signal(channels: [], rate: 8_000).mono.isEmpty)
  }

  @Test func shortChannelsEndInSilence() {
    #expect(Signal(channels: [[1], [1, 1]], rate: 8_000).channels == [[1, 0], [1, 1]])
  }
}
