internal import HapticFormats
internal import HapticModel

/// Converts a composition into a document with one perception and one channel for each body
/// location.
///
/// Transients share one band. Continuous events use as many vectorial bands as events overlap.
/// Sampled signals become linear curves.
struct MPEGEncoder {
  /// The number of ticks per second.
  private static let timescale = 48_000
  /// The maximum position of a key frame within its effect, in ticks.
  private static let maximumEffectTicks = Int(Int32.max)
  /// The maximum numbers of effects, key frames, bands per channel, and channels that are written.
  private static let limits = (effects: 4_000_000, keyframes: 8_000_000, bands: 1_000, channels: 64)
  /// The maximum distance between a signal's lines and its samples, as a fraction of full scale.
  private static let signalTolerance = 1.0 / 8_192

  private(set) var document = MPEGDocument()
  private(set) var losses = LossLog()
  private var effectCount = 0
  private var keyframeCount = 0
  private var bands: [MPEGDocument.Band] = []
  /// For each band, the tick from which it is free.
  private var bandEndTicks: [Int] = []

  init(_ composition: HapticComposition, options: WritingOptions) {
    let composition = composition.unrolled(passCount: options.loopCount, losses: &self.losses)
    self.losses.addNonHapticLosses(of: composition, keepsBodyLocations: true)
    document.timescale = Self.timescale
    document.level = 1
    // The schema requires a date. A constant date gives identical files for identical compositions.
    document.date = "2023-01-01T00:00:00Z"
    document.description = [composition.title, composition.notes].compactMap { $0 }.joined(
      separator: ": ")
    let sampler = EnvelopeSampler(
      .amplitude, mapping: .linear, tolerance: options.tolerance, frequencies: .mpeg)
    let envelopes = sampler.envelopes(of: composition, losses: &self.losses)
    var perception = MPEGDocument.Perception()
    perception.modality = .vibrotactile
    for channelNumber in 1...max(1, min(composition.bodyLocationCount, Self.limits.channels)) {
      // A layer without a body location plays in every channel.
      let layerIndices = composition.layers.indices.filter {
        (composition.layers[$0].bodyLocation?.number ?? channelNumber) == channelNumber
      }
      let channelEnvelopes =
        composition.bodyLocationCount > 0
        ? envelopes.filter { layerIndices.contains($0.event.layer) } : envelopes
      bands = []
      bandEndTicks = []
      addTransients(channelEnvelopes.filter { $0.kind == .hapticTransient })
      for envelope in channelEnvelopes where envelope.kind == .hapticContinuous {
        addWave(envelope)
      }
      for layer in layerIndices {
        for signal in composition.layers[layer].signals {
          addSignal(signal, ofLayer: layer)
        }
      }
      var channel = MPEGDocument.Channel(id: channelNumber - 1)
      channel.description = layerIndices.first.map { composition.layers[$0].name } ?? ""
      channel.bands = bands.filter { !$0.effects.isEmpty }.map(Self.widened)
      if channel.bands.isEmpty {
        channel.bands = [Self.band(.transient)]
      }
      perception.channels.append(channel)
    }
    document.perceptions = [perception]
    document.syncCount = 1
  }

  private static func band(_ kind: MPEGBandKind) -> MPEGDocument.Band {
    var band = MPEGDocument.Band()
    band.kind = kind
    (band.lowerHertz, band.upperHertz) = kind == .curve ? (0, 1_000) : (65, 300)
    if kind == .curve {
      band.curveKind = .linear
    }
    return band
  }

  /// Returns a band that contains the frequencies of its key frames.
  private static func widened(_ band: MPEGDocument.Band) -> MPEGDocument.Band {
    guard band.kind != .curve else { return band }
    var band = band
    for keyframe in band.effects.lazy.flatMap({ $0.keyframes }) where !keyframe.frequency.isNaN {
      band.lowerHertz = min(band.lowerHertz, Double(keyframe.frequency))
      band.upperHertz = max(band.upperHertz, Double(keyframe.frequency))
    }
    return band
  }

  /// Returns the nearest tick to a time, and records the rounding error as a loss.
  private mutating func ticks(ofSeconds seconds: Double, element: CompositionElement) -> Int {
    let exact = seconds * Double(Self.timescale)
    let rounded = exact.rounded()
    let error = abs(exact - rounded) / Double(Self.timescale)
    if error > 1e-7 {
      losses.add(
        .approximated, .composition,
        "times are rounded to ticks of 1/\(Self.timescale) s, by up to # µs",
        size: error * 1e6)
    }
    return FrameConversion.integer(rounded, in: 0...FrameConversion.maximumInteger)
  }

  private mutating func keyframe(at position: Int, amplitude: Double, sharpness: Double)
    -> MPEGDocument.Keyframe
  {
    let exact = SharpnessScale.mpeg.hertz(ofSharpness: sharpness)
    let hertz = exact.rounded()
    if abs(exact - hertz) > 1e-4 {
      losses.add(
        .approximated, .composition, "frequencies are rounded to whole hertz, by up to # Hz",
        size: abs(exact - hertz))
    }
    return MPEGDocument.Keyframe(
      position: Int32(clamping: position), amplitude: Float(amplitude), frequency: Float(hertz))
  }

  private mutating func reserveEffect(keyframeCount newCount: Int, for element: CompositionElement)
    -> Bool
  {
    guard effectCount < Self.limits.effects, keyframeCount + newCount <= Self.limits.keyframes
    else {
      losses.add(.dropped, element, "the file cannot contain more effects")
      return false
    }
    effectCount += 1
    keyframeCount += newCount
    return true
  }

  // MARK: - Events

  private mutating func addTransients(_ envelopes: [EventEnvelope]) {
    var band = Self.band(.transient)
    var effect = MPEGDocument.Effect()
    for envelope in envelopes {
      let point = envelope.points[0]
      let position = ticks(ofSeconds: point.time, element: .event(envelope.event))
      if effect.keyframes.isEmpty || position - effect.position > Self.maximumEffectTicks {
        if !effect.keyframes.isEmpty {
          band.effects.append(effect)
        }
        guard reserveEffect(keyframeCount: 1, for: .event(envelope.event)) else { break }
        effect = MPEGDocument.Effect()
        // The first effect starts with the file, as in files of the reference software.
        effect.position = band.effects.isEmpty && position <= Self.maximumEffectTicks ? 0 : position
      } else {
        keyframeCount += 1
      }
      effect.keyframes.append(
        keyframe(
          at: position - effect.position, amplitude: point.level * MPEGReader.transientAmplitude,
          sharpness: point.sharpness))
    }
    if !effect.keyframes.isEmpty {
      band.effects.append(effect)
    }
    bands.append(band)
    bandEndTicks.append(.max)
  }

  private mutating func addWave(_ envelope: EventEnvelope) {
    let element = CompositionElement.event(envelope.event)
    let start = ticks(ofSeconds: envelope.start, element: element)
    guard ticks(ofSeconds: envelope.end, element: element) - start <= Self.maximumEffectTicks else {
      return losses.add(
        .dropped, element, "the event lasts more than \(Self.maximumEffectTicks / Self.timescale) s"
      )
    }
    var keyframes: [MPEGDocument.Keyframe] = []
    for point in envelope.points {
      let next = keyframe(
        at: ticks(ofSeconds: point.time, element: element) - start,
        amplitude: point.level * MPEGReader.continuousAmplitude,
        sharpness: point.sharpness)
      // Two key frames at one tick are a jump; key frames between them have no effect.
      if keyframes.count > 1, keyframes[keyframes.count - 2].position == next.position {
        keyframes.removeLast()
      }
      if keyframes.last != next {
        keyframes.append(next)
      }
    }
    guard let last = keyframes.last, last.position > 0, keyframes.count > 1 else {
      return losses.add(.dropped, element, "the event is shorter than a tick")
    }
    append(keyframes, at: start, toBandLike: Self.band(.vectorial), for: element)
  }

  private mutating func append(
    _ keyframes: [MPEGDocument.Keyframe], at start: Int, toBandLike template: MPEGDocument.Band,
    for element: CompositionElement
  ) {
    let end = start + Int(keyframes[keyframes.count - 1].position)
    var index = bands.indices.first { bands[$0].kind == template.kind && bandEndTicks[$0] <= start }
    if index == nil {
      guard bands.count < Self.limits.bands else {
        return losses.add(.dropped, element, "the file cannot contain more simultaneous effects")
      }
      index = bands.count
      bands.append(template)
      bandEndTicks.append(0)
    }
    guard let index else { return }
    bandEndTicks[index] = end
    guard reserveEffect(keyframeCount: keyframes.count, for: element) else { return }
    var effect = MPEGDocument.Effect(isVectorialWave: template.kind == .vectorial)
    effect.position = start + Int(keyframes[0].position)
    effect.keyframes = keyframes
    for index in effect.keyframes.indices {
      effect.keyframes[index].position -= keyframes[0].position
    }
    bands[index].effects.append(effect)
  }

  // MARK: - Signals

  private mutating func addSignal(_ signal: SampledSignal, ofLayer layer: Int) {
    guard !signal.samples.isEmpty, SampledSignal.supportedRates.contains(signal.rate),
      signal.time >= 0,
      signal.time + signal.duration <= FrameConversion.maximumSeconds
    else {
      return losses.add(.dropped, .layer(layer), "a signal that cannot be rendered is not written")
    }
    let points = signal.samples.enumerated().map { index, sample in
      EnvelopePoint(
        time: signal.time + Double(index) / signal.rate,
        level: Double(sample.isFinite ? sample : 0) * MPEGReader.continuousAmplitude, sharpness: 0)
    }
    let reduced = PointReduction(points, tolerance: Self.signalTolerance, sharpnessWeight: 0)
    if reduced.maximumError > 1e-6 {
      losses.add(
        .approximated, .layer(layer),
        "the samples of a signal are approximated by lines, with an error of up to # of full scale",
        size: reduced.maximumError)
    }
    let start = ticks(ofSeconds: signal.time, element: .layer(layer))
    var keyframes: [MPEGDocument.Keyframe] = []
    for point in reduced.points {
      let clipped = min(max(point.level, -1), 1)
      if clipped != point.level {
        losses.add(
          .approximated, .layer(layer), "a signal is clipped by up to # of full scale",
          size: abs(point.level - clipped)
        )
      }
      let next = MPEGDocument.Keyframe(
        position: Int32(clamping: ticks(ofSeconds: point.time, element: .layer(layer)) - start),
        amplitude: Float(clipped))
      if keyframes.last?.position == next.position {
        keyframes.removeLast()
      }
      keyframes.append(next)
    }
    guard keyframes.count > 1 else { return }
    append(keyframes, at: start, toBandLike: Self.band(.curve), for: .layer(layer))
  }
}
