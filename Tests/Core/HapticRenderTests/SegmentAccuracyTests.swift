import Glibc
import HapticModel
import RealtimeMemory
import Testing

@testable import HapticRender

@Suite struct StretchAccuracyTests {
  /// The greatest errors of a plan's only voice against the laws, frame by frame.
  ///
  /// Decibels count unless the level moves by a fifth within two milliseconds and the rendered one
  /// is no more than one of them early or late.
  private func errors(
    of pattern: HapticPattern, rate: Double, intensity: (Double) -> Double,
    sharpness: (Double) -> Double,
    outline: (Double) -> Double = { _ in 1 }
  ) throws -> (decibels: Double, level: Double, hertz: Double) {
    let plan = try RenderPlan(compiling: pattern, rate: rate)
    let planned = plan.planView.value.voices[0]
    var voice = Voice(
      plannedVoiceIndex: 0, planned, passOriginFrame: 0, onsetOutputFrame: planned.onsetFrame,
      envelope: planned.envelope, cursors: plan.planView.value.layerTracks[0].hapticCursors)
    let player = RenderPlayer(plan: plan)
    let context = player.playerCell.value.voiceContext(isStereo: true)
    var worst = (decibels: 0.0, level: 0.0, hertz: 0.0)
    let edge = Int64(rate / 500)
    while voice.nextFrameToMix < planned.envelope.releaseStartFrame {
      voice.beginSegment(planned, in: context)
      // Frames between those looked at lie on the same lines.
      let spacing = Int64(max(1, rate / 16_000))
      for n in stride(from: 0, to: voice.segmentEndFrame - voice.nextFrameToMix, by: Int(spacing))
      where voice.nextFrameToMix + n > edge {
        let time = Double(voice.nextFrameToMix + n) / rate
        func level(at time: Double) -> Double {
          let i = min(max(intensity(time), 0), 1)
          return 0.44 * i * i * outline(time)
        }
        let law = level(at: time)
        let rendered = Double(
          voice.leftLevel.startAmplitude + voice.leftLevel.slopePerFrame * Float(n))
        worst.level = max(worst.level, abs(rendered - law))
        let near = [level(at: time - 0.001), law, level(at: time + 0.001)].sorted()
        if law > 0.44 * 0.001, rendered < near[0] || rendered > near[2] || near[2] < near[0] * 1.2 {
          worst.decibels = max(worst.decibels, abs(decibels(rendered, law)))
        }
        let step =
          Int64(voice.sine.phaseIncrement) + Int64(
            Int32(bitPattern: voice.sine.phaseIncrementSlope)) * n
        let hertz = 80 * pow(230 / 80, min(max(sharpness(time), 0), 1))
        worst.hertz = max(worst.hertz, abs(Double(step) * rate / 4_294_967_296 / hertz - 1))
      }
      voice.nextFrameToMix = voice.segmentEndFrame
    }
    return worst
  }

  static let intensities: [[(Double, Double)]] = [
    [(0, 0), (1, 1)], [(0, 1), (1, 0)], [(0, 0.1), (0.3, 1), (0.6, 0.3), (1, 0.9)],
    [(0, 0.2), (0.5, 1), (0.52, 0.05)],
  ]

  @Test(arguments: [8_000, 44_100, 48_000, 192_000], intensities)
  func levelStaysWithinThreeHundredthsOfADecibel(
    rate: Double, points: [(Double, Double)]
  ) throws {
    let pattern = HapticPattern(
      events: [humEvent()], curves: [curve(.hapticIntensityControl, along: points)])
    let worst = try errors(
      of: pattern, rate: rate, intensity: piecewiseLine(points), sharpness: { _ in 0.5 })
    #expect(worst.decibels < 0.03)
    #expect(worst.level < 0.0015)
    #expect(worst.hertz < 1e-6)
  }

  @Test(arguments: [8_000, 48_000, 192_000]) func fastRampsAreFollowedWithinAMillisecond(
    rate: Double
  ) throws {
    let points = [(0, 0.2), (0.3, 0.2), (0.305, 1), (0.5, 1), (0.505, 0), (0.7, 0), (0.705, 0.7)]
    let pattern = HapticPattern(
      events: [humEvent()], curves: [curve(.hapticIntensityControl, along: points)])
    let worst = try errors(
      of: pattern, rate: rate, intensity: piecewiseLine(points), sharpness: { _ in 0.5 })
    #expect(worst.decibels < 0.03)
    #expect(worst.level < 0.44 * 0.012)
  }

  @Test(arguments: [8_000, 48_000, 192_000]) func frequencyStaysWithinFourPartsInTenThousand(
    rate: Double
  ) throws {
    let points = [(0, -0.5), (0.5, 0.5), (1, -0.2)]
    let pattern = HapticPattern(
      events: [humEvent()], curves: [curve(.hapticSharpnessControl, along: points)])
    let control = piecewiseLine(points)
    let worst = try errors(
      of: pattern, rate: rate, intensity: { _ in 1 }, sharpness: { 0.5 + control($0) })
    #expect(worst.hertz < 4e-4)
    #expect(worst.level < 1e-6)
  }

  @Test func attackUnderAMovingIntensityIsTheirProduct() throws {
    let points = [(0.0, 1.0), (1, 0.2)]
    let attack = EnvelopeTimes.seconds(normalized: 0.7)
    let pattern = HapticPattern(
      events: [humEvent(0, 1, [.attackTime: 0.7])],
      curves: [curve(.hapticIntensityControl, along: points)])
    let worst = try errors(
      of: pattern, rate: 48_000, intensity: piecewiseLine(points), sharpness: { _ in 0.5 },
      outline: { min($0 / attack, 1) })
    #expect(worst.decibels < 0.1)
    #expect(worst.level < 0.001)
  }

  @Test(arguments: [8_000, 48_000]) func noPhaseIsLostWhileSharpnessMoves(rate: Double) throws {
    let points = [(0, -0.5), (0.5, 0.5), (1, -0.2)]
    let pattern = HapticPattern(
      events: [humEvent()], curves: [curve(.hapticSharpnessControl, along: points)])
    let control = piecewiseLine(points)
    var reference = ReferenceEvent(
      rate: rate, durationSeconds: 0.999, sharpness: { 0.5 + control($0) })
    reference.envelope = { min($0 / 0.001, 1) }
    #expect(reference.errorDecibels(of: try render(pattern, rate: rate)) < -60)
  }

  @Test func curvesOfBothControlsFollowTheReference() throws {
    let strong = [(0, 0.1), (0.3, 1), (0.6, 0.3), (1, 0.9)]
    let sharp = [(0, 0), (0.3, 0.6), (0.9, -0.4)]
    let pattern = HapticPattern(
      events: [humEvent(0, 1, sharpness: 0.4)],
      curves: [
        curve(.hapticIntensityControl, along: strong), curve(.hapticSharpnessControl, along: sharp),
      ])
    let control = piecewiseLine(sharp)
    var reference = ReferenceEvent(
      durationSeconds: 0.999, intensity: piecewiseLine(strong), sharpness: { 0.4 + control($0) })
    reference.envelope = { min($0 / 0.001, 1) }
    #expect(reference.errorDecibels(of: try render(pattern)) < -57)
  }

  @Test func frequencyIsExactOverAMinute() throws {
    let samples = try render(HapticPattern(events: [humEvent(0, 60, sharpness: 0.3)]), rate: 8_000)
    let law = TransducerProfile.phone.frequency.hertz(atSharpness: 0.3)
    let measured = frequency(of: samples, rate: 8_000, from: 0.1, to: 59.9)
    #expect(abs(measured / law - 1) < 0.3e-6)
  }
}
