import Foundation
import Reading
import Testing

@testable import HapticFormats
@testable import VendorFormats

/// A model of the reference software's synthesizer, including its faults. The figures of
/// conformance refer to its samples.
///
/// Source: MPEGGroup/HapticReferenceSoftware, 2de9ff1, the output of its `Synthesizer`. Two faults
/// that prevent any output are not reproduced: it hangs at a transient without an amplitude, and it
/// reads outside its memory if a curve has an even number of Bézier key frames.
struct ReferenceSynthesis {
  typealias Effect = MPEGDocument.Effect

  private struct Band {
    var description: MPEGDocument.Band
    var effects: [Effect]
  }

  /// The duration of a transient, in seconds: two cycles of 90.9 Hz.
  private static let transientSeconds = 0.022
  private static let rate = 8_000

  private let timescale: Int
  /// The number of frames of each channel.
  private let frameCount: Int

  /// The samples of the first channel of a text, as the software writes them in 16 bits.
  static func samples(hjif bytes: [UInt8]) throws -> [Int] {
    var reader = HJIFReader(wantsFindings: true)
    let document = reader.decodeDocument(from: try JSONDocument(text: bytes, name: "t"))
    try #require(reader.findingLog.errorCount == 0)
    return try samples(of: document)
  }

  static func samples(of document: MPEGDocument) throws -> [Int] {
    let perception = try #require(document.perceptions.first)
    let channels = perception.channels.map { channel in
      (channel, channel.bands.map { resolved($0, perception.effectLibrary) })
    }
    let ticks =
      channels.map { Self.ticks(of: $0, $1, timescale: document.ticksPerSecond) }.max() ?? 0
    let synthesis = ReferenceSynthesis(
      timescale: document.ticksPerSecond,
      frameCount: Int((Double(rate) * ticks / Double(document.ticksPerSecond)).rounded()))
    let firstChannel = try #require(channels.first)
    let gain =
      firstChannel.0.channelGain * powerOfTen(perception.amplitudeExponentOfTen)
      / MPEGReader.continuousReferenceAmplitude
    return synthesis.samples(of: firstChannel.1).map { MPEGFixtures.quantized(Float($0 * gain)) }
  }

  /// Returns a band with references replaced by the effects of the library. The position of the
  /// library effect is ignored, and composite effects are silent.
  private static func resolved(_ band: MPEGDocument.Band, _ library: [Effect]) -> Band {
    var effects = band.effects.compactMap { effect -> Effect? in
      guard effect.kind == .reference else { return effect.kind == .basis ? effect : nil }
      guard var libraryEffect = library.first(where: { $0.id == effect.id }),
        libraryEffect.kind == .basis
      else {
        return nil
      }
      libraryEffect.startTicks = effect.startTicks
      return libraryEffect
    }
    if band.kind != .wavelet {
      effects = effects.filter { !$0.keyframes.isEmpty }.enumerated().sorted {
        ($0.element.startTicks, $0.offset) < ($1.element.startTicks, $1.offset)
      }.map(\.element)
    }
    return Band(description: band, effects: effects)
  }

  private static func ticks(of channel: MPEGDocument.Channel, _ bands: [Band], timescale: Int)
    -> Double
  {
    if channel.recordingSampleRate > 0, channel.recordingFrameCount > 0 {
      return Double(timescale)
        * (Double(channel.recordingFrameCount) / Double(channel.recordingSampleRate))
    }
    return bands.compactMap { band in
      guard let last = band.effects.last else { return nil }
      let lengthTicks: Double
      switch band.description.kind {
      case .wavelet:
        lengthTicks = 0
      case .transient:
        lengthTicks =
          Double(last.keyframes.last?.offsetTicks ?? 0) + transientSeconds * Double(timescale)
      case .curve, .vectorial:
        lengthTicks = Double(last.keyframes.last?.offsetTicks ?? 0)
      }
      return Double(last.startTicks) + lengthTicks
    }.max() ?? 0
  }

  /// Returns the sum of bands, clipped at ±1 after each band.
  private func samples(of bands: [Band]) -> [Double] {
    var sum = [Double](repeating: 0, count: frameCount)
    for band in bands {
      switch band.description.kind {
      case .transient:
        for effect in band.effects {
          addTransient(effect, to: &sum)
        }
      case .vectorial:
        for effect in band.effects {
          addWave(effect, of: band.description, to: &sum)
        }
      case .curve:
        for effect in band.effects {
          addCurve(effect, of: band.description, to: &sum)
        }
      case .wavelet:
        addBlocks(of: band, to: &sum)
      }
      for index in sum.indices {
        sum[index] = min(max(sum[index], -1), 1)
      }
    }
    return sum
  }

  /// The ticks of a frame.
  private func position(_ frame: Int) -> Double {
    Double(timescale) * (Double(frame) / Double(Self.rate))
  }

  /// Returns the frames between two ticks, with a margin of one frame on each side.
  private func frames(_ start: Double, _ end: Double) -> Range<Int> {
    let framesPerTick = Double(Self.rate) / Double(timescale)
    let firstFrame = min(max(Int(min(start * framesPerTick, 1e15)) - 1, 0), frameCount)
    return firstFrame..<max(firstFrame, min(Int(min(end * framesPerTick, 1e15)) + 2, frameCount))
  }

  private func addTransient(_ effect: MPEGDocument.Effect, to sum: inout [Double]) {
    let length = Self.transientSeconds / (1 / Double(timescale))
    for key in effect.keyframes {
      let start = Double(effect.startTicks)
      for frame in frames(start + Double(key.offsetTicks), start + Double(key.offsetTicks) + length)
      {
        let elapsed = position(frame) - start - Double(key.offsetTicks)
        guard elapsed >= 0, elapsed <= length else { continue }
        sum[frame] += sin(4 * .pi * elapsed / length) * Double(key.amplitude)
      }
    }
  }

  private func addWave(
    _ effect: MPEGDocument.Effect, of band: MPEGDocument.Band, to sum: inout [Double]
  ) {
    let wave = ReferenceWave(effect, of: band, timescale: timescale)
    let start = Double(effect.startTicks)
    let end = start + Double(effect.keyframes.last?.offsetTicks ?? 0)
    for frame in frames(start, end) {
      let position = position(frame)
      guard position >= start, position <= end else { continue }
      sum[frame] += wave.value(at: position - start)
    }
  }

  private func addCurve(
    _ effect: MPEGDocument.Effect, of band: MPEGDocument.Band, to sum: inout [Double]
  ) {
    // The software interpolates two keys, and then discards the result.
    guard effect.keyframes.count > 2 else { return }
    // The software confuses seconds and ticks twice, in 32 bits.
    let start = Int(Int32(truncatingIfNeeded: effect.startTicks &* Self.rate &* timescale))
    guard start < frameCount, -start < frameCount else { return }
    func frame(_ ticks: Int32) -> Double { Double(Int(ticks) * Self.rate / timescale) }
    let first = frame(effect.keyframes[0].offsetTicks)
    let points = effect.keyframes.enumerated().map { index, key in
      CurveInterpolator.Point(
        samplePosition: index == 0 ? 0 : frame(key.offsetTicks) - first,
        amplitude: Double(key.amplitude))
    }
    let samples = Self.samples(of: points, band.curveKind)
    for (index, sample) in samples.enumerated() where index + start >= 0 {
      guard index + start < frameCount else { break }
      sum[index + start] += sample
    }
  }

  private func addBlocks(of band: Band, to sum: inout [Double]) {
    let rate = Double(Int(band.description.upperHertzOrSampleRate))
    guard let count = WaveletBlock(band.description, timescale: 1_000).blockSampleCount else {
      return
    }
    for (number, effect) in band.effects.enumerated() {
      let samples = WaveletDecoder.samples(of: effect.waveletStream, count: count)
      let start = (Double(number) * Double(count) * Double(timescale) / rate).rounded(.towardZero)
      for frame in frames(start, start + Double(count) * Double(timescale) / rate) {
        let position = position(frame)
        guard position >= start else { continue }
        let index = Int(((position - start) * rate / Double(timescale)).rounded(.down))
        if index < count {
          sum[frame] += samples[index]
        }
      }
    }
  }

  /// Returns the curve like the software: a Bézier curve with an even number of keys ends at the
  /// second-last key, and each sample of a quadratic spline is the first of ten steps that is not
  /// before the sample.
  private static func samples(of points: [CurveInterpolator.Point], _ kind: MPEGCurveKind)
    -> [Double]
  {
    let count = Int(points[points.count - 1].samplePosition) + 1
    switch kind {
    case .bezier where points.count % 2 == 0:
      let samples = CurveInterpolator(points: Array(points.dropLast())).samples(of: kind)
      return samples + Array(repeating: 0, count: count - samples.count)
    case .bSpline where count > 1:
      return spline(points, count: count)
    default:
      return CurveInterpolator(points: points).samples(of: kind)
    }
  }

  private static func spline(_ points: [CurveInterpolator.Point], count: Int) -> [Double] {
    let lastIndex = count - 1
    let spans = points.count - 2
    let knots = [0, 0] + (0...spans).map { Double($0) / Double(spans) } + [1, 1]
    // The knot span of the parameter starts two knots before this index.
    var knot = 3
    func interpolated(_ parameter: Double, _ component: (CurveInterpolator.Point) -> Double)
      -> Double
    {
      var values = (0..<3).map { component(points[knot - 3 + $0]) }
      for round in 1..<3 {
        for valueIndex in stride(from: 2, through: round, by: -1) {
          let start = knots[knot - 3 + valueIndex]
          let width = knots[knot + valueIndex - round] - start
          let fraction = parameter == start ? 0 : (parameter - start) / width
          values[valueIndex] =
            (1 - fraction) * values[valueIndex - 1] + fraction * values[valueIndex]
        }
      }
      return values[2]
    }
    var samples = [Double](repeating: 0, count: count)
    let step = 1 / Double(lastIndex) / 10
    var parameter = 0.0
    var reachedPosition = 0.0
    samples[0] = points[0].amplitude
    for index in 1..<max(lastIndex, 1) {
      while reachedPosition < Double(index), parameter < 1 {
        parameter += step
        while knot + 1 < points.count + 1, parameter >= knots[knot] {
          knot += 1
        }
        reachedPosition = interpolated(parameter, \.samplePosition)
      }
      samples[index] = interpolated(parameter, \.amplitude)
    }
    samples[lastIndex] = points[points.count - 1].amplitude
    return samples
  }
}

/// A vectorial wave whose phases count 1,000 ticks per second, whose averaged frequencies are
/// clamped to the band, and whose phase jumps after the last frequency.
private struct ReferenceWave {
  private let effect: MPEGDocument.Effect
  private let amplitudes: [MPEGDocument.Keyframe]
  private var frequencies: [(position: Double, hertz: Double, phase: Double)] = []
  private let timescale: Double
  private let limits: ClosedRange<Double>

  init(_ effect: MPEGDocument.Effect, of band: MPEGDocument.Band, timescale: Int) {
    self.effect = effect
    self.timescale = Double(timescale)
    limits =
      band.lowerHertz <= band.upperHertzOrSampleRate
      ? band.lowerHertz...band.upperHertzOrSampleRate : 0...10_000
    amplitudes = effect.keyframes.filter { !$0.amplitude.isNaN }
    var phase = effect.initialPhaseRadians
    for key in effect.keyframes where !key.hertz.isNaN {
      let position = Double(key.offsetTicks)
      let hertz = Double(key.hertz).rounded(.towardZero)
      if let last = frequencies.last {
        phase += .pi * (position - last.position) * 0.001 * (last.hertz + hertz)
      } else {
        phase += 2 * .pi * position * 0.001 * hertz
      }
      frequencies.append((position, hertz, phase))
    }
  }

  /// The value at a position in ticks from the start of the effect.
  func value(at position: Double) -> Double {
    var level = 1.0
    if let last = amplitudes.last {
      let nextIndex =
        amplitudes.firstIndex { Double($0.offsetTicks) >= position } ?? amplitudes.count
      level = Double(
        nextIndex < amplitudes.count ? amplitudes[nextIndex].amplitude : last.amplitude)
      if nextIndex > 0, nextIndex < amplitudes.count {
        let previous = amplitudes[nextIndex - 1]
        let nextFrequency = amplitudes[nextIndex]
        let fraction =
          (position - Double(previous.offsetTicks))
          / Double(nextFrequency.offsetTicks - previous.offsetTicks)
        level =
          Double(previous.amplitude)
          + (Double(nextFrequency.amplitude) - Double(previous.amplitude)) * fraction
      }
    }
    return level * wave(at: position)
  }

  private func wave(at position: Double) -> Double {
    guard let last = frequencies.last else { return shape(0, 0, effect.initialPhaseRadians) }
    guard let nextIndex = frequencies.firstIndex(where: { $0.position >= position }) else {
      return shape(position, last.hertz, last.phase)
    }
    let nextFrequency = frequencies[nextIndex]
    guard nextIndex > 0 else {
      return shape(position, nextFrequency.hertz, effect.initialPhaseRadians)
    }
    let previous = frequencies[nextIndex - 1]
    let elapsed = position - previous.position
    let meanHertz =
      previous.hertz + (nextFrequency.hertz - previous.hertz)
      / (nextFrequency.position - previous.position) * elapsed / 2
    return shape(elapsed, min(max(meanHertz, limits.lowerBound), limits.upperBound), previous.phase)
  }

  private func shape(_ ticks: Double, _ hertz: Double, _ phase: Double) -> Double {
    let phaseInPeriods = hertz == 0 ? 0 : hertz * (ticks / timescale + phase / (2 * .pi * hertz))
    switch effect.baseSignal {
    case .sine: return sin(2 * .pi * phaseInPeriods)
    case .square: return 1 - 2 * (phaseInPeriods - floor(phaseInPeriods)).rounded()
    case .triangle: return 1 - 4 * abs((phaseInPeriods - 0.25).rounded() - (phaseInPeriods - 0.25))
    case .sawToothUp: return 2 * (phaseInPeriods - floor(phaseInPeriods + 0.5))
    case .sawToothDown: return 2 * (floor(phaseInPeriods + 0.5) - phaseInPeriods)
    }
  }
}
