internal import CMath
internal import HapticFormats
import Reading
import HapticModel

extension ReadResult {
  /// Creates the result of reading a document, from a text or from a binary file.
  ///
  /// - Parameters:
  ///   - document: The document.
  ///   - log: The findings so far.
  ///   - options: The reading options.
  ///   - offset: Returns the location of an element in the file, for the order of findings.
  ///   - location: Returns the location of an element, or of an offset in it.
  init(
    of document: MPEGDocument, log: FindingLog, options: ReadingOptions,
    offset: @escaping (Int) -> Int,
    location: @escaping @Sendable (_ part: Int, _ offset: Int?) -> FileLocation
  ) {
    let resolver = MPEGResolver(
      document, log: log, clampsFrequencies: options.signalRate == nil, offset: offset)
    var mapping = MPEGReader(
      document: document, resolver: resolver, sourceLocation: { location($0, nil) },
      signalRate: options.signalRate)
    mapping.read()
    let log = mapping.resolver.log
    let losses = mapping.losses.finish()
    // Clamping is reported both as a loss and as a finding, because the result sounds different
    // from the file. Only losses by clamping have a size.
    let clamped = losses.filter { $0.size != nil }.map {
      Finding(.mpegClamped, location: $0.location ?? location(0, nil), $0.message)
    }
    var composition = HapticComposition(layers: mapping.layers)
    if !document.description.isEmpty {
      composition.notes = document.description
    }
    self.init(
      composition: log.errorCount == 0 ? composition : nil,
      findings: log.findings(for: options) { location($0, $1) } + clamped,
      errorCount: log.errorCount,
      losses: log.errorCount == 0 && options.wantsFindings ? losses : [],
      sourceMap: SourceMap(layers: mapping.layerSourceIndices, events: mapping.eventSourceIndices) {
        location($0, nil)
      },
      details: document.details)
  }
}

extension MPEGDocument {
  fileprivate var details: [(name: String, value: String)] {
    var details = [
      ("version", version), ("profile", "\(profile)@\(level)"), ("date", date),
      ("timescale", "\(timescale)"),
    ]
    for perception in perceptions {
      details.append(("modality", perception.modality.jsonName))
      details += perception.deviceNames.map { ("device", $0) }
    }
    return details.filter { !$0.1.isEmpty }.map { (name: $0.0, value: $0.1) }
  }
}

/// Converts the channels of a document into layers: waves and transients become events if events
/// can represent them exactly, everything else becomes sampled signals.
struct MPEGReader {
  /// The amplitude of a continuous event of intensity 1.
  ///
  /// Source: MPEGGroup/HapticReferenceSoftware, 2de9ff1, the AHAP input of its encoder.
  static let continuousAmplitude = 0.6138
  static let transientAmplitude = 0.792
  /// The duration of a transient, in seconds: two cycles of 90.9 Hz. Source: as for
  /// ``continuousAmplitude``.
  private static let transientDuration = 0.022
  /// The sample rates of curves and waves that become signals, up to a minute and for longer
  /// signals. The lower rate bounds the memory that a small file can claim.
  private static let signalRates = (short: 48_000.0, long: 8_000.0)
  /// The maximum number of samples in all signals together.
  private static let maximumSampleCount = 1 << 24
  /// An amplitude of 0 as quantized by the binary file: half a step below 0.
  static let quantizedZero: Float = -1 / 255 - 1e-6

  let document: MPEGDocument
  var resolver: MPEGResolver
  var losses = LossLog()
  private(set) var layers: [HapticComposition.Layer] = []
  private(set) var layerSourceIndices: [Int] = []
  private(set) var eventSourceIndices: [[Int]] = []
  fileprivate var sampleCount = 0
  fileprivate var signalSeconds = 0.0
  fileprivate let sourceLocation: (Int) -> FileLocation
  /// The sample rate of a single signal for each channel, or nil to use events wherever they are
  /// exact.
  var signalRate: Double?

  mutating func read() {
    reportDroppedContent()
    guard resolver.log.errorCount == 0 else { return }
    for (index, channel) in resolver.channels.enumerated() {
      let count = resolver.channels.count
      read(
        channel,
        at: count > 1
          ? HapticComposition.BodyLocation(index + 1, of: count, name: channel.name) : nil)
    }
    if layers.isEmpty {
      layers = [HapticComposition.Layer(HapticPattern())]
    }
  }

  private mutating func reportLoss(
    _ kind: Loss.Kind, at sourceIndex: Int, _ message: String, size: Double? = nil
  ) {
    losses.add(kind, .composition, at: sourceLocation(sourceIndex), message, size: size)
  }

  // MARK: - Channels

  private mutating func read(
    _ channel: MPEGResolver.Channel, at bodyLocation: HapticComposition.BodyLocation?
  ) {
    switch channel.modality.playability {
    case .unchanged:
      break
    case .asVibration:
      reportLoss(
        .approximated, at: channel.sourceIndex,
        "\(channel.modality.jsonName) is played as vibration")
    case .unplayable:
      return reportLoss(
        .dropped, at: channel.sourceIndex,
        "\(channel.modality.jsonName) cannot be played as vibration over time")
    }
    var builder = LayerBuilder()
    var sourceIndices: [Int] = []
    var signals: [SampledSignal] = []
    for band in channel.bands {
      if signalRate == nil {
        signals += addEffects(
          of: band, gain: channel.gain, to: &builder, sourceIndices: &sourceIndices)
      }
      if band.description.kind == .wavelet,
        let signal = sampledSignal(ofBlocks: band, of: channel)
      {
        signals.append(signal)
      }
    }
    if let signalRate, let sum = channelSum(of: channel, rate: signalRate) {
      signals.append(sum)
    }
    var (builtLayers, references) = builder.build()
    var eventIndices = sourceIndices.isEmpty ? [[]] : [[Int]](sourceIndices, at: references)
    if !signals.isEmpty, !(builtLayers[0].pattern.curves.isEmpty) {
      // Signals are in the layer of the events without curves.
      builtLayers.insert(HapticComposition.Layer(HapticPattern()), at: 0)
      eventIndices.insert([], at: 0)
    }
    builtLayers[0].signals = signals
    for (var layer, indices) in zip(builtLayers, eventIndices) where !layer.isEmpty {
      layer.name = channel.name
      layer.bodyLocation = bodyLocation
      layer.sharpnessScale = layer.pattern.events.isEmpty ? nil : .mpeg
      layers.append(layer)
      layerSourceIndices.append(channel.sourceIndex)
      eventSourceIndices.append(indices)
    }
  }

  /// Adds the effects of a band that events represent exactly, and returns signals for the others.
  private mutating func addEffects(
    of band: MPEGResolver.Band, gain: Double, to builder: inout LayerBuilder,
    sourceIndices: inout [Int]
  ) -> [SampledSignal] {
    var signals: [SampledSignal] = []
    for effect in band.effects {
      switch band.description.kind {
      case .transient:
        addTransients(of: effect, gain: gain, to: &builder, sourceIndices: &sourceIndices)
      case .vectorial:
        if let wave = WaveEvent(effect, timescale: document.timescale, gain: gain) {
          guard let event = event(of: wave, effect: effect) else { continue }
          builder.add(event, curves: wave.curves, until: event.time + (event.duration ?? 0))
          sourceIndices.append(effect.sourceIndex)
        } else if let signal = sampledSignal(of: effect, band: band.description, gain: gain) {
          signals.append(signal)
        }
      case .curve:
        if let signal = sampledSignal(of: effect, band: band.description, gain: gain) {
          signals.append(signal)
        }
      case .wavelet:
        break
      }
    }
    return signals
  }

  private func seconds(ofTicks ticks: Int) -> Double { Double(ticks) / Double(document.timescale) }

  // MARK: - Events

  private mutating func addTransients(
    of effect: MPEGDocument.Effect, gain: Double, to builder: inout LayerBuilder,
    sourceIndices: inout [Int]
  ) {
    for keyframe in effect.keyframes {
      let amplitude = abs(Double(keyframe.amplitude)) * gain
      let intensity = amplitude / Self.transientAmplitude
      // A transient without a frequency has the constant frequency of the burst.
      let hertz = keyframe.frequency.isNaN ? 2 / Self.transientDuration : Double(keyframe.frequency)
      let sharpness = SharpnessScale.mpeg.sharpness(ofHertz: SharpnessScale.supported(hertz: hertz))
      reportClamping(intensity: intensity, amplitude: amplitude, of: effect)
      var parameters = EventParameters()
      parameters[.hapticIntensity] = Float(min(intensity, 1))
      parameters[.hapticSharpness] = Float(sharpness)
      builder.add(
        HapticEvent(
          kind: .hapticTransient, time: seconds(ofTicks: effect.position + Int(keyframe.position)),
          parameters: parameters))
      sourceIndices.append(
        Int(keyframe.sourceIndex) == 0 ? effect.sourceIndex : Int(keyframe.sourceIndex))
    }
  }

  /// Returns the event of a wave, or nil if the wave has no duration, which is reported as a loss.
  private mutating func event(of wave: WaveEvent, effect: MPEGDocument.Effect) -> HapticEvent? {
    if let amplitude = wave.maximumAmplitude, amplitude > Self.continuousAmplitude {
      reportClamping(
        intensity: amplitude / Self.continuousAmplitude, amplitude: amplitude, of: effect)
    }
    if wave.event == nil {
      reportLoss(.dropped, at: effect.sourceIndex, "waves with zero duration are silent")
    }
    return wave.event
  }

  private mutating func reportClamping(
    intensity: Double, amplitude: Double, of effect: MPEGDocument.Effect
  ) {
    if intensity > 1 + 1e-6 {
      reportLoss(
        .approximated, at: effect.sourceIndex,
        "amplitudes above the amplitude of intensity 1 are clamped by up to # of full scale",
        size: amplitude - amplitude / intensity)
    }
  }

  // MARK: - Signals

  /// Counts samples toward the limits, and logs an error if they exceed a limit.
  private mutating func reserveSamples(seconds: Double, rate: Double, at sourceIndex: Int) -> Bool {
    let count = seconds * rate + 1
    guard signalSeconds + seconds <= SampledSignal.maximumTotalDuration,
      Double(sampleCount) + count <= Double(Self.maximumSampleCount)
    else {
      resolver.log.add(
        .mpegTooLarge, valueIndex: sourceIndex, offset: resolver.offset(sourceIndex),
        "curves, wavelets, and waves are too long to play as samples")
      return false
    }
    sampleCount += FrameConversion.integer(count.rounded(.down))
    signalSeconds += seconds
    return true
  }

  /// Returns the samples of a curve, or of a wave that no event represents.
  private mutating func sampledSignal(
    of effect: MPEGDocument.Effect, band: MPEGDocument.Band, gain: Double
  )
    -> SampledSignal?
  {
    guard let first = effect.keyframes.first?.position, let last = effect.keyframes.last?.position
    else {
      return nil
    }
    guard band.kind != .curve || last > first else {
      reportLoss(.dropped, at: effect.sourceIndex, "curves with zero duration are silent")
      return nil
    }
    let duration = Double(last - first) / Double(document.timescale)
    let rate = duration <= 60 ? Self.signalRates.short : Self.signalRates.long
    guard resolver.log.errorCount == 0,
      reserveSamples(seconds: duration, rate: rate, at: effect.sourceIndex)
    else {
      return nil
    }
    let samples: [Double]
    if band.kind == .curve {
      let scale = rate / Double(document.timescale)
      let factor = gain / Self.continuousAmplitude
      let points = effect.keyframes.map {
        CurveInterpolator.Point(
          position: Double($0.position - first) * scale, value: Double($0.amplitude) * factor)
      }
      samples = CurveInterpolator(points: points).samples(of: band.curveKind)
    } else {
      var wave = VectorialWave(effect, timescale: document.timescale)
      let step = Double(document.timescale) / rate
      samples =
        (0...FrameConversion.integer(
          (duration * rate).rounded(.down), in: 0...Self.maximumSampleCount))
        .map { frame in
          wave.value(at: min(Double(first) + Double(frame) * step, Double(last))) * gain
            / Self.continuousAmplitude
        }
    }
    return SampledSignal(
      time: seconds(ofTicks: effect.position + Int(first)), rate: rate,
      samples: samples.map { Float($0) })
  }

  /// Returns the end of a channel's transients, waves, and curves, in ticks.
  private static func endTick(of channel: MPEGResolver.Channel, burst: Double) -> Double {
    var end = 0.0
    for band in channel.bands where band.description.kind != .wavelet {
      let tail = band.description.kind == .transient ? burst : 0
      for effect in band.effects {
        let lastPosition = Double(effect.keyframes.last?.position ?? 0)
        end = max(end, Double(effect.position) + lastPosition + tail)
      }
    }
    return end
  }

  /// Returns the exact sum of a channel's transients, waves, and curves, without clamping. As in
  /// the reference software, effects include both their first and their last frame, waves start at
  /// the position of their effect, and the frame at the end of the channel is omitted.
  private mutating func channelSum(of channel: MPEGResolver.Channel, rate: Double) -> SampledSignal?
  {
    let perTick = rate / Double(document.timescale)
    let burst = Self.transientDuration * Double(document.timescale)
    let recordedTicks = channel.seconds.map { $0 * Double(document.timescale) } ?? .infinity
    let end = min(Self.endTick(of: channel, burst: burst), recordedTicks)
    let count = FrameConversion.integer((end * perTick).rounded())
    guard count > 0, resolver.log.errorCount == 0,
      reserveSamples(seconds: end * perTick / rate, rate: rate, at: channel.sourceIndex)
    else { return nil }
    var samples = [Float](repeating: 0, count: count)
    let gain = channel.gain / Self.continuousAmplitude
    func add(from start: Double, to end: Double, _ value: (_ position: Double) -> Double) {
      let last = min(FrameConversion.integer((end * perTick).rounded(.down)), count - 1)
      for frame in stride(
        from: FrameConversion.integer((start * perTick).rounded(.up)), through: last, by: 1)
      {
        samples[frame] += Float(value(Double(frame) / perTick) * gain)
      }
    }
    for band in channel.bands {
      for effect in band.effects {
        let start = Double(effect.position)
        switch band.description.kind {
        case .transient:
          for keyframe in effect.keyframes {
            let onset = start + Double(keyframe.position)
            add(from: onset, to: onset + burst) {
              sin(4 * .pi * ($0 - onset) / burst) * Double(keyframe.amplitude)
            }
          }
        case .vectorial:
          var wave = VectorialWave(effect, timescale: document.timescale)
          add(from: start, to: start + Double(effect.keyframes.last?.position ?? 0)) {
            wave.value(at: $0 - start)
          }
        case .curve:
          let keyframes = effect.keyframes.map {
            (frame: (start + Double($0.position)) * perTick, value: Double($0.amplitude))
          }
          guard let first = keyframes.first?.frame.rounded(.down) else { continue }
          let curve = CurveInterpolator(
            points: keyframes.map { .init(position: $0.frame - first, value: $0.value) })
          for (index, value) in curve.samples(of: band.description.curveKind).enumerated() {
            let frame = FrameConversion.integer(first) + index
            if frame < count {
              samples[frame] += Float(value * gain)
            }
          }
        case .wavelet:
          break
        }
      }
    }
    return SampledSignal(time: 0, rate: rate, samples: samples)
  }

  /// Returns the samples of a band of wavelets, without those of its last block that are beyond the
  /// recording.
  private mutating func sampledSignal(
    ofBlocks band: MPEGResolver.Band, of channel: MPEGResolver.Channel
  ) -> SampledSignal? {
    let rate = band.description.upperHertz
    guard !band.effects.isEmpty,
      let count = WaveletBlock(band.description, timescale: document.timescale).sampleCount
    else {
      return nil
    }
    guard SampledSignal.supportedRates.contains(rate) else {
      reportLoss(
        .dropped, at: band.description.sourceIndex,
        "wavelets with fewer than 100 samples per second are silent")
      return nil
    }
    guard resolver.log.errorCount == 0,
      reserveSamples(
        seconds: Double(count * band.effects.count) / rate, rate: rate,
        at: band.description.sourceIndex)
    else { return nil }
    var samples: [Float] = []
    samples.reserveCapacity(count * band.effects.count)
    for effect in band.effects {
      for sample in WaveletDecoder.samples(of: effect.waveletStream, count: count) {
        samples.append(Float(sample * channel.gain / Self.continuousAmplitude))
      }
    }
    if let seconds = channel.seconds {
      let recordedCount = FrameConversion.integer(seconds * rate, in: 0...samples.count)
      samples.removeLast(samples.count - recordedCount)
    }
    return SampledSignal(time: 0, rate: rate, samples: samples)
  }

  // MARK: - What is left out

  private mutating func reportDroppedContent() {
    func text(_ count: Int, _ singular: String, _ plural: String) -> String {
      count == 1 ? "1 \(singular)" : "\(count) \(plural)"
    }
    if let first = document.avatars.first {
      reportLoss(
        .dropped, at: first.sourceIndex,
        "\(text(document.avatars.count, "avatar", "avatars")): body locations are not supported")
    }
    if document.syncCount > 1 {
      losses.add(.dropped, .composition, "\(document.syncCount) synchronization points")
    }
    for perception in document.perceptions {
      if !perception.deviceNames.isEmpty {
        reportLoss(
          .dropped, at: perception.sourceIndex,
          """
          the data of \
          \(text(perception.deviceNames.count, "reference device", "reference devices"))
          """
        )
      }
      for channel in perception.channels where channel.namesBodyLocation {
        reportLoss(.dropped, at: channel.sourceIndex, "the body part that a channel names")
      }
      var semantic: Int?
      for channel in perception.channels {
        for band in channel.bands where semantic == nil {
          semantic = band.effects.first { $0.semanticKeywords != nil }?.sourceIndex
        }
      }
      if let semantic {
        reportLoss(.dropped, at: semantic, "semantic keywords of effects")
      }
    }
  }
}
