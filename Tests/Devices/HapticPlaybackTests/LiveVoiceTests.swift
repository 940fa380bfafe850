import Foundation
import HapticPlayback
import HapticRender
import Testing

/// Voices whose samples are written during playback.
struct LiveVoiceTests {
  private static let rate = 48_000.0

  private static func sine(_ count: Int, from first: Int = 0, amplitude: Double = 0.3) -> [Float] {
    (first..<first + count).map { Float(amplitude * sin(2 * .pi * 100 * Double($0) / rate)) }
  }

  private static func voice(_ samples: [Float], capacity: Int = 48_000, reserve: Int = 480)
    -> LiveVoice
  {
    let voice = LiveVoice(rate: rate, capacity: capacity, queuedFrameCountAtStart: reserve)
    write(samples, to: voice)
    return voice
  }

  private static func write(_ samples: [Float], to voice: LiveVoice) {
    let isAccepted = voice.write(samples.span)
    #expect(isAccepted)
  }

  private static func play(_ voices: [LiveVoice], periodSize: Int = 64, seconds: Double = 0.4)
    throws -> [Float]
  {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: periodSize)
    for voice in voices {
      try engine.attach(voice)
    }
    playback.advance(seconds: seconds)
    return playback.samples()
  }

  @Test func samplesPlayUnchanged() throws {
    let samples = try Self.play([Self.voice(Self.sine(24_000))])
    // Ten periods of the sine, well after the beginning.
    let steadySamples = samples[9_600..<14_400]
    let peak = steadySamples.reduce(0) { max($0, abs($1)) }
    #expect(abs(peak - 0.3) < 0.002)
    let crossings = zip(steadySamples, steadySamples.dropFirst()).count { $0 <= 0 && $1 > 0 }
    #expect(crossings == 10)
  }

  @Test(arguments: [16, 480, 512]) func periodSizeDoesNotChangeTheSamples(_ periodSize: Int) throws
  {
    let expected = try Self.play([Self.voice(Self.sine(24_000))], periodSize: 64)
    let actual = try Self.play([Self.voice(Self.sine(24_000))], periodSize: periodSize)
    #expect(maximumDifference(expected, actual).magnitude == 0)
  }

  @Test func voicesAreSummed() throws {
    let fullLevelSamples = try Self.play([Self.voice(Self.sine(24_000))])
    let makeHalfLevelVoice = { Self.voice(Self.sine(24_000, amplitude: 0.15)) }
    #expect(
      maximumDifference(
        fullLevelSamples, try Self.play([makeHalfLevelVoice(), makeHalfLevelVoice()])
      ).magnitude < 1e-6)
    // The sum of five voices exceeds the ceiling, so that the limiter acts.
    let limitedSamples = try Self.play((0..<5).map { _ in Self.voice(Self.sine(24_000)) })
    #expect(limitedSamples.reduce(0) { max($0, abs($1)) } <= 0.8911)
  }

  @Test func aGapIsCountedAndDoesNotClick() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine)
    let voice = Self.voice(Self.sine(4_920))
    try engine.attach(voice)
    playback.advance(seconds: 0.2)
    #expect(voice.queuedFrameCount == 0)
    // The voice stays silent until its reserve is filled again.
    Self.write(Self.sine(400, from: 4_920), to: voice)
    playback.advance(seconds: 0.1)
    #expect(voice.queuedFrameCount == 400)
    Self.write(Self.sine(9_600, from: 5_320), to: voice)
    playback.advance(seconds: 0.1)
    #expect(voice.underrunFrameCount == 9_480)
    // The slope of a 100 Hz sine of amplitude 0.3 changes by up to 5.1e-5 per frame; a linear fade
    // of 5 ms adds two changes of 0.3 / 240.
    #expect(maximumSlopeChange(playback.samples()) < 1.5e-3)
  }

  @Test func detachedVoicesFadeOutAndAreFreed() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine)
    var voices = (0..<LiveVoice.maximumCountPerRenderer).map { _ in
      Self.voice(Self.sine(40_000, amplitude: 0.05))
    }
    for voice in voices {
      try engine.attach(voice)
    }
    #expect { try engine.attach(Self.voice(Self.sine(480))) } throws: { error in
      (error as? PlaybackError)?.kind == .tooManyPlayers
    }
    playback.advance(seconds: 0.1)
    for voice in voices {
      engine.detach(voice)
    }
    playback.advance(seconds: 0.1)
    #expect(voices.allSatisfy { $0.isReleased })
    let samples = playback.samples()
    #expect(maximumSlopeChange(samples) < 2e-3)
    weak let releasedVoice = voices[0]
    voices = []
    playback.advance(seconds: 0.1)
    engine.update()
    #expect(releasedVoice == nil)
    #expect(playback.samples()[12_000...].allSatisfy { abs($0) < 1e-3 })
    try engine.attach(Self.voice(Self.sine(480)))
  }
}
