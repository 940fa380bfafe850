import Foundation
import HapticPlayback
import HapticRender
import Testing

/// Frames that are made while they sound.
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
    let isTaken = voice.write(samples.span)
    #expect(isTaken)
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

  @Test func framesSoundAsTheyAre() throws {
    let samples = try Self.play([Self.voice(Self.sine(24_000))])
    // Ten periods, well behind the beginning.
    let part = samples[9_600..<14_400]
    let peak = part.reduce(0) { max($0, abs($1)) }
    #expect(abs(peak - 0.3) < 0.002)
    let crossings = zip(part, part.dropFirst()).count { $0 <= 0 && $1 > 0 }
    #expect(crossings == 10)
  }

  @Test(arguments: [16, 480, 512]) func periodsDoNotMatter(_ periodSize: Int) throws {
    let expected = try Self.play([Self.voice(Self.sine(24_000))], periodSize: 64)
    let other = try Self.play([Self.voice(Self.sine(24_000))], periodSize: periodSize)
    #expect(maximumDifference(expected, other).greatest == 0)
  }

  @Test func voicesAdd() throws {
    let whole = try Self.play([Self.voice(Self.sine(24_000))])
    let half = { Self.voice(Self.sine(24_000, amplitude: 0.15)) }
    #expect(maximumDifference(whole, try Self.play([half(), half()])).greatest < 1e-6)
    // Five of them do not fit below the ceiling.
    let loud = try Self.play((0..<5).map { _ in Self.voice(Self.sine(24_000)) })
    #expect(loud.reduce(0) { max($0, abs($1)) } <= 0.8911)
  }

  @Test func aGapIsCountedAndDoesNotClick() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine)
    let voice = Self.voice(Self.sine(4_920))
    try engine.attach(voice)
    playback.advance(seconds: 0.2)
    #expect(voice.queuedFrameCount == 0)
    // Fewer than the reserve wait until there are enough.
    Self.write(Self.sine(400, from: 4_920), to: voice)
    playback.advance(seconds: 0.1)
    #expect(voice.queuedFrameCount == 400)
    Self.write(Self.sine(9_600, from: 5_320), to: voice)
    playback.advance(seconds: 0.1)
    #expect(voice.underrunFrameCount == 9_480)
    // A sine of 0.3 at 100 Hz has 5.1e-5; a straight fade of 5 ms adds two bends of 0.3 / 240.
    #expect(maximumSlopeChange(playback.samples()) < 1.5e-3)
  }

  @Test func aVoiceThatIsDetachedFadesOutAndIsFreed() throws {
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
    weak let last = voices[0]
    voices = []
    playback.advance(seconds: 0.1)
    engine.update()
    #expect(last == nil)
    #expect(playback.samples()[12_000...].allSatisfy { abs($0) < 1e-3 })
    try engine.attach(Self.voice(Self.sine(480)))
  }
}
