import SignalAnalysis
import Testing

struct SignalTests {
  @Test func interleavedSamplesBecomeChannels() {
    let signal = Signal(interleaved: [1, 2, 3, 4, 5], channelCount: 2, rate: 8_000)
    #expect(signal.channels == [[1, 3], [2, 4]])
    #expect(signal.frameCount == 2)
    #expect(signal.duration == 0.000_25)
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
