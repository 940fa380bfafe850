internal import HapticFormats
internal import CMath

/// What the synthesizer of the reference software makes of a document, with its faults.
///
/// Source: MPEGGroup/HapticReferenceSoftware, 2de9ff1, what its `Synthesizer` writes. Two faults that
/// keep it from writing anything are not reproduced: it hangs at a transient without an amplitude and
/// reads outside its memory where a curve has an even number of Bézier keys.
struct ReferenceSynthesis {
  /// Seconds of a transient: two cycles of 90.9 Hz.
  static let transientSeconds = 0.022
  /// The most samples of all channels together.
  static let sampleLimit = 1 << 24
  /// The most samples of all effects together.
  static let workLimit = 1 << 26

  let timescale: Int
  let rate: Int
  /// Frames of each channel.
  let frameCount: Int

  /// Prepares the synthesis of channels; nil where that would be too long.
  init?(_ channels: [MPEGResolver.Channel], timescale: Int, rate: Int) {
    let ticks = channels.map { Self.ticks(of: $0, timescale: timescale) }.max() ?? 0
    let frames = (Double(rate) * ticks / Double(timescale)).rounded()
    guard frames * Double(max(channels.count, 1)) <= Double(Self.sampleLimit),
      Self.work(of: channels, perTick: Double(rate) / Double(timescale), rate: rate) <= Double(Self.workLimit)
    else { return nil }
    (self.timescale, self.rate, frameCount) = (timescale, rate, Int(frames))
  }

  /// How many samples of effects are evaluated, those of a quadratic spline in ten steps each.
  private static func work(of channels: [MPEGResolver.Channel], perTick: Double, rate: Int) -> Double {
    var work = 0.0
    for band in channels.lazy.flatMap(\.bands) {
      for effect in band.effects {
        let length = Double(effect.keys.last?.position ?? 0) * perTick
        switch band.description.kind {
        case .transient: work += Double(effect.keys.count) * transientSeconds * Double(rate)
        case .vectorial: work += length
        case .curve: work += band.description.curve == .bSpline ? 10 * length : length
        case .wavelet: work += band.description.high
        }
      }
    }
    return work
  }

  private static func ticks(of channel: MPEGResolver.Channel, timescale: Int) -> Double {
    if channel.sampling > 0, channel.sampleCount > 0 {
      return Double(timescale) * (Double(channel.sampleCount) / Double(channel.sampling))
    }
    return channel.bands.compactMap { band in
      guard let last = band.effects.last else { return nil }
      let length: Double
      switch band.description.kind {
      case .wavelet: length = 0
      case .transient: length = Double(last.keys.last?.position ?? 0) + transientSeconds * Double(timescale)
      case .curve, .vectorial: length = Double(last.keys.last?.position ?? 0)
      }
      return Double(last.position) + length
    }.max() ?? 0
  }

  /// The samples of a channel, clipped at ±1 behind each band.
  func samples(of channel: MPEGResolver.Channel) -> [Double] {
    var sum = [Double](repeating: 0, count: frameCount)
    for band in channel.bands {
      switch band.description.kind {
      case .transient: for effect in band.effects { addTransient(effect, to: &sum) }
      case .vectorial: for effect in band.effects { addWave(effect, of: band.description, to: &sum) }
      case .curve: for effect in band.effects { addCurve(effect, of: band.description, to: &sum) }
      case .wavelet: addBlocks(of: band, to: &sum)
      }
      for index in sum.indices { sum[index] = min(max(sum[index], -1), 1) }
    }
    return sum.map { $0 * channel.gain }
  }

  /// The ticks of a frame.
  private func position(_ frame: Int) -> Double { Double(timescale) * (Double(frame) / Double(rate)) }

  /// The frames from one tick to another, and a few beside them.
  private func frames(_ start: Double, _ end: Double) -> Range<Int> {
    let perTick = Double(rate) / Double(timescale)
    let first = min(max(Int(min(start * perTick, 1e15)) - 1, 0), frameCount)
    return first..<max(first, min(Int(min(end * perTick, 1e15)) + 2, frameCount))
  }

  private func addTransient(_ effect: MPEGDocument.Effect, to sum: inout [Double]) {
    let length = Self.transientSeconds / (1 / Double(timescale))
    for key in effect.keys {
      let start = Double(effect.position)
      for frame in frames(start + Double(key.position), start + Double(key.position) + length) {
        let elapsed = position(frame) - start - Double(key.position)
        guard elapsed >= 0, elapsed <= length else { continue }
        sum[frame] += sin(4 * .pi * elapsed / length) * Double(key.amplitude)
      }
    }
  }

  private func addWave(_ effect: MPEGDocument.Effect, of band: MPEGDocument.Band, to sum: inout [Double]) {
    var wave = VectorialWave(effect, of: band, timescale: timescale, asReference: true)
    let start = Double(effect.position)
    let end = start + Double(effect.keys.last?.position ?? 0)
    for frame in frames(start, end) {
      let position = position(frame)
      guard position >= start, position <= end else { continue }
      sum[frame] += wave.value(at: position - start)
    }
  }

  private func addCurve(_ effect: MPEGDocument.Effect, of band: MPEGDocument.Band, to sum: inout [Double]) {
    // Two keys are interpolated and then forgotten.
    guard effect.keys.count > 2 else { return }
    // Seconds take the place of ticks twice, in 32 bits.
    let start = Int(Int32(truncatingIfNeeded: effect.position &* rate &* timescale))
    guard start < frameCount, -start < frameCount else { return }
    func frame(_ ticks: Int32) -> Double { Double(Int(ticks) * rate / timescale) }
    let first = frame(effect.keys[0].position)
    let points = effect.keys.enumerated().map { index, key in
      CurveInterpolator.Point(x: index == 0 ? 0 : frame(key.position) - first, y: Double(key.amplitude))
    }
    guard let last = points.last, last.x <= Double(Self.sampleLimit) else { return }
    let samples = CurveInterpolator(points: points).samples(band.curve, asReference: true)
    for (index, sample) in samples.enumerated() where index + start >= 0 {
      guard index + start < frameCount else { break }
      sum[index + start] += sample
    }
  }

  private func addBlocks(of band: MPEGResolver.Band, to sum: inout [Double]) {
    let rate = Double(Int(band.description.high))
    guard let count = WaveletBlock(band.description, timescale: 1_000).count else { return }
    for (number, effect) in band.effects.enumerated() {
      let samples = WaveletDecoder.samples(of: effect.stream, count: count)
      let start = (Double(number) * Double(count) * Double(timescale) / rate).rounded(.towardZero)
      for frame in frames(start, start + Double(count) * Double(timescale) / rate) {
        let position = position(frame)
        guard position >= start else { continue }
        let index = Int(((position - start) * rate / Double(timescale)).rounded(.down))
        if index < count { sum[frame] += samples[index] }
      }
    }
  }
}
