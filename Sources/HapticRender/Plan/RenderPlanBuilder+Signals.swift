internal import CMath
import HapticModel
internal import RealtimeMemory

extension RenderPlanBuilder {
  /// Adds a sampled signal at the rate of the plan.
  ///
  /// Where it does not begin or end near zero it is ramped over the shortest edge, so that nothing pops.
  mutating func addSignal(_ signal: SampledSignal) {
    let frames = SignalResampler.resampled(signal.samples, from: signal.rate, to: rate)
    guard !frames.isEmpty else { return }
    let onset = FrameConversion.frame(seconds: signal.time, rate: rate)
    let length = Int64(frames.count)
    let longestEdge = min(edge, length / 2)
    let rise = Self.isNearZero(frames[0]) ? 0 : longestEdge
    let fall = Self.isNearZero(frames[frames.count - 1]) ? 0 : longestEdge
    var voice = PlannedVoice(
      source: .signal, onset: onset,
      envelope: Envelope(riseEnd: rise, riseLevel: 1, releaseStart: length - fall, releaseLevel: 1, end: length),
      gain: Float(profile.level))
    voice.sample = Int32(clamping: samples.count)
    voice.layer = layer
    samples.append(AudioBuffer(interleaved: frames, channelCount: 1))
    voices.append(voice)
    soundEnd = max(soundEnd, onset + length)
    hasHaptics = true
  }

  /// Whether a step from silence to a sample is 40 dB below a full one.
  private static func isNearZero(_ sample: Float) -> Bool { abs(sample) <= 0.01 }
}

/// Moves a signal to another rate by band-limited interpolation.
///
/// Source: J. O. Smith, Digital Audio Resampling Home Page, 2002: a sinc under a Kaiser window, widened
/// where the rate falls. The signal counts as zero before its start and behind its end.
enum SignalResampler {
  /// Zero crossings of the sinc to each side.
  private static let reach = 24.0
  /// The window's shape: side lobes below −80 dB.
  private static let beta = 8.0
  /// Points of the table for each zero crossing.
  private static let resolution = 512

  /// The windowed sinc from 0 to `reach` zero crossings, with one point behind.
  private static let kernel: [Float] = {
    let count = Int(reach) * resolution
    return (0...count + 1).map { index in
      let x = Double(index) / Double(resolution)
      guard x < reach else { return 0 }
      let sinc = x == 0 ? 1 : sin(.pi * x) / (.pi * x)
      let place = x / reach
      return Float(sinc * bessel(beta * (1 - place * place).squareRoot()) / bessel(beta))
    }
  }()

  /// The modified Bessel function of the first kind and order 0, by its power series.
  private static func bessel(_ x: Double) -> Double {
    var term = 1.0
    var sum = 1.0
    for n in 1...40 {
      term *= (x / 2 / Double(n)) * (x / 2 / Double(n))
      sum += term
    }
    return sum
  }

  /// The samples at another rate; as they are where the rates are equal.
  static func resampled(_ samples: [Float], from rate: Double, to wanted: Double) -> [Float] {
    guard rate != wanted, !samples.isEmpty else { return samples }
    let step = rate / wanted
    let count = Int((Double(samples.count) / step).rounded(.up))
    // Below 1 where the rate falls: the cutoff falls with it.
    let cutoff = min(1, wanted / rate)
    let width = reach / cutoff
    let scale = Float(cutoff)
    return (0..<count).map { frame in
      let position = Double(frame) * step
      let first = max(0, Int((position - width).rounded(.up)))
      let last = min(samples.count - 1, Int(position + width))
      guard first <= last else { return 0 }
      var sum: Float = 0
      for index in first...last {
        let place = abs(position - Double(index)) * cutoff * Double(resolution)
        let entry = Int(place)
        let part = Float(place - Double(entry))
        sum += samples[index] * (kernel[entry] + (kernel[entry + 1] - kernel[entry]) * part)
      }
      return sum * scale
    }
  }
}
