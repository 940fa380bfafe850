internal import CMath
internal import HapticFormats
import Reading
import HapticModel

extension ReadResult {
  /// Creates the result of reading an MPEG document, which came from a text or a binary file.
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
    let documentResolver = MPEGResolver(
      document, log: log, clampsFrequencies: options.signalSampleRate == nil, offset: offset)
    var documentReader = MPEGReader(
      document: document, resolver: documentResolver, locationOfSourceValue: { location($0, nil) },
      channelSignalSampleRate: options.signalSampleRate)
    documentReader.read()
    let resolverLog = documentReader.resolver.log
    let reportedLosses = documentReader.losses.lossesWithOmittedCounts()
    // Clamping is reported both as a loss and as a finding, because the result sounds different
    // from the file. Only losses by clamping have a size.
    let clampingFindings = reportedLosses.filter { $0.lossMagnitude != nil }.map {
      Finding(.mpegClampedValues, location: $0.location ?? location(0, nil), $0.message)
    }
    var composition = HapticComposition(layers: documentReader.layers)
    if !document.description.isEmpty {
      composition.notes = document.description
    }
    self.init(
      composition: resolverLog.errorCount == 0 ? composition : nil,
      findings: resolverLog.findings(for: options) { location($0, $1) } + clampingFindings,
      errorCount: resolverLog.errorCount,
      losses: resolverLog.errorCount == 0 && options.wantsFindings ? reportedLosses : [],
      sourceMap: SourceMap(
        layers: documentReader.layerSourceValueIndices,
        events: documentReader.eventSourceValueIndices
      ) {
        location($0, nil)
      },
      details: document.documentDetails)
  }
}

extension MPEGDocument {
  fileprivate var documentDetails: [(name: String, value: String)] {
    var documentDetails = [
      ("version", standardVersion), ("profile", "\(conformanceProfile)@\(conformanceLevel)"),
      ("date", creationDate),
      ("timescale", "\(ticksPerSecond)"),
    ]
    for perception in perceptions {
      documentDetails.append(("modality", perception.modality.jsonName))
      documentDetails += perception.deviceNames.map { ("device", $0) }
    }
    return documentDetails.filter { !$0.1.isEmpty }.map { (name: $0.0, value: $0.1) }
  }
}

/// Converts the channels of an MPEG document into layers. Waves and transients become events if
/// events can represent them exactly; everything else becomes sampled signals.
struct MPEGReader {
  /// The amplitude that a continuous event of intensity 1 has in a document.
  ///
  /// Source: MPEGGroup/HapticReferenceSoftware, 2de9ff1, the AHAP input of its encoder.
  static let continuousReferenceAmplitude = 0.6138
  static let transientReferenceAmplitude = 0.792
  /// The duration of a transient effect, in seconds: two cycles of 90.9 Hz. Source: as for
  /// ``continuousReferenceAmplitude``.
  private static let transientDurationSeconds = 0.022
  /// The sample rates of signals converted from curves and waves.
  ///
  /// The first rate applies to signals of up to a minute, and the second to longer signals. The
  /// lower rate bounds the memory that a small file can claim.
  private static let curveSampleRates = (short: 48_000.0, long: 8_000.0)
  /// The maximum total number of samples in all signals of a document.
  private static let maximumTotalSampleCount = 1 << 24
  /// The value of an amplitude of 0 after quantization in binary files: half a step below 0.
  static let maximumQuantizedZeroAmplitude: Float = -1 / 255 - 1e-6

  let document: MPEGDocument
  var resolver: MPEGResolver
  var losses = LossLog()
  private(set) var layers: [HapticComposition.Layer] = []
  private(set) var layerSourceValueIndices: [Int] = []
  private(set) var eventSourceValueIndices: [[Int]] = []
  fileprivate var reservedSampleCount = 0
  fileprivate var reservedSignalSeconds = 0.0
  fileprivate let locationOfSourceValue: (Int) -> FileLocation
  /// The sample rate for reading each channel as a single signal, in hertz.
  ///
  /// If the rate is nil, channels are read as events wherever events are exact.
  var channelSignalSampleRate: Double?

  mutating func read() {
    reportDroppedContent()
    guard resolver.log.errorCount == 0 else { return }
    for (index, channel) in resolver.channels.enumerated() {
      let count = resolver.channels.count
      readChannel(
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
    losses.add(kind, .composition, at: locationOfSourceValue(sourceIndex), message, size: size)
  }

  // MARK: - Channels

  private mutating func readChannel(
    _ channel: MPEGResolver.Channel, at bodyLocation: HapticComposition.BodyLocation?
  ) {
    switch channel.modality.playability {
    case .unchanged:
      break
    case .asVibration:
      reportLoss(
        .approximated, at: channel.sourceValueIndex,
        "\(channel.modality.jsonName) is played as vibration")
    case .unplayable:
      return reportLoss(
        .dropped, at: channel.sourceValueIndex,
        "\(channel.modality.jsonName) cannot be played as vibration over time")
    }
    var layerBuilder = LayerBuilder()
    var sourceIndices: [Int] = []
    var channelSignals: [SampledSignal] = []
    for band in channel.bands {
      if channelSignalSampleRate == nil {
        channelSignals += addEffects(
          of: band, gain: channel.channelGain, to: &layerBuilder, sourceIndices: &sourceIndices)
      }
      if band.documentBand.kind == .wavelet,
        let signal = sampledSignal(ofBlocks: band, of: channel)
      {
        channelSignals.append(signal)
      }
    }
    if let channelSignalSampleRate,
      let summedSignal = summedEffectSignal(of: channel, rate: channelSignalSampleRate)
    {
      channelSignals.append(summedSignal)
    }
    var (builtLayers, references) = layerBuilder.build()
    var sourceIndicesByLayer = sourceIndices.isEmpty ? [[]] : [[Int]](sourceIndices, at: references)
    if !channelSignals.isEmpty, !(builtLayers[0].pattern.curves.isEmpty) {
      // Signals are in the layer of the events without curves.
      builtLayers.insert(HapticComposition.Layer(HapticPattern()), at: 0)
      sourceIndicesByLayer.insert([], at: 0)
    }
    builtLayers[0].signals = channelSignals
    for (var layer, layerSourceIndices) in zip(builtLayers, sourceIndicesByLayer)
    where !layer.isEmpty {
      layer.name = channel.name
      layer.bodyLocation = bodyLocation
      layer.sharpnessScale = layer.pattern.events.isEmpty ? nil : .mpeg
      layers.append(layer)
      layerSourceValueIndices.append(channel.sourceValueIndex)
      eventSourceValueIndices.append(layerSourceIndices)
    }
  }

  /// Adds the effects of a band that events represent exactly, and returns signals for the others.
  private mutating func addEffects(
    of band: MPEGResolver.Band, gain: Double, to builder: inout LayerBuilder,
    sourceIndices: inout [Int]
  ) -> [SampledSignal] {
    var bandSignals: [SampledSignal] = []
    for effect in band.effects {
      switch band.documentBand.kind {
      case .transient:
        addTransients(of: effect, gain: gain, to: &builder, sourceIndices: &sourceIndices)
      case .vectorial:
        if let wave = WaveEvent(effect, timescale: document.ticksPerSecond, gain: gain) {
          guard let event = makeEvent(of: wave, effect: effect) else { continue }
          builder.add(event, curves: wave.curves, until: event.time + (event.duration ?? 0))
          sourceIndices.append(effect.sourceValueIndex)
        } else if let signal = sampledSignal(of: effect, band: band.documentBand, gain: gain) {
          bandSignals.append(signal)
        }
      case .curve:
        if let signal = sampledSignal(of: effect, band: band.documentBand, gain: gain) {
          bandSignals.append(signal)
        }
      case .wavelet:
        break
      }
    }
    return bandSignals
  }

  private func seconds(ofTicks ticks: Int) -> Double {
    Double(ticks) / Double(document.ticksPerSecond)
  }

  // MARK: - Events

  private mutating func addTransients(
    of effect: MPEGDocument.Effect, gain: Double, to builder: inout LayerBuilder,
    sourceIndices: inout [Int]
  ) {
    for keyframe in effect.keyframes {
      let amplitude = abs(Double(keyframe.amplitude)) * gain
      let intensity = amplitude / Self.transientReferenceAmplitude
      // A transient without a frequency has the constant frequency of the burst.
      let hertz = keyframe.hertz.isNaN ? 2 / Self.transientDurationSeconds : Double(keyframe.hertz)
      let sharpness = SharpnessScale.mpeg.sharpness(
        ofHertz: SharpnessScale.clampedToSupported(hertz: hertz))
      reportClamping(intensity: intensity, amplitude: amplitude, of: effect)
      var parameters = EventParameters()
      parameters[.hapticIntensity] = Float(min(intensity, 1))
      parameters[.hapticSharpness] = Float(sharpness)
      builder.add(
        HapticEvent(
          kind: .hapticTransient,
          time: seconds(ofTicks: effect.startTicks + Int(keyframe.offsetTicks)),
          parameters: parameters))
      sourceIndices.append(
        Int(keyframe.sourceValueIndex) == 0
          ? effect.sourceValueIndex : Int(keyframe.sourceValueIndex))
    }
  }

  /// Returns the event of a wave. For a wave without duration, reports a loss and returns nil.
  private mutating func makeEvent(of wave: WaveEvent, effect: MPEGDocument.Effect) -> HapticEvent? {
    if let amplitude = wave.maximumAmplitude, amplitude > Self.continuousReferenceAmplitude {
      reportClamping(
        intensity: amplitude / Self.continuousReferenceAmplitude, amplitude: amplitude, of: effect)
    }
    if wave.event == nil {
      reportLoss(.dropped, at: effect.sourceValueIndex, "waves with zero duration are silent")
    }
    return wave.event
  }

  private mutating func reportClamping(
    intensity: Double, amplitude: Double, of effect: MPEGDocument.Effect
  ) {
    if intensity > 1 + 1e-6 {
      reportLoss(
        .approximated, at: effect.sourceValueIndex,
        "amplitudes above the amplitude of intensity 1 are clamped by up to # of full scale",
        size: amplitude - amplitude / intensity)
    }
  }

  // MARK: - Signals

  /// Counts samples toward the limits of the reader, and logs an error if they exceed a limit.
  private mutating func reserveSamples(seconds: Double, rate: Double, at sourceIndex: Int) -> Bool {
    let sampleCountToReserve = seconds * rate + 1
    guard reservedSignalSeconds + seconds <= SampledSignal.maximumTotalSeconds,
      Double(reservedSampleCount) + sampleCountToReserve <= Double(Self.maximumTotalSampleCount)
    else {
      resolver.log.add(
        .mpegTooManyEffects, valueIndex: sourceIndex,
        offset: resolver.offsetOfSourceValue(sourceIndex),
        "curves, wavelets, and waves are too long to play as samples")
      return false
    }
    reservedSampleCount += FrameConversion.clampedInteger(sampleCountToReserve.rounded(.down))
    reservedSignalSeconds += seconds
    return true
  }

  /// Returns the samples of a curve, or of a wave that no event represents.
  private mutating func sampledSignal(
    of effect: MPEGDocument.Effect, band: MPEGDocument.Band, gain: Double
  )
    -> SampledSignal?
  {
    guard let firstTick = effect.keyframes.first?.offsetTicks,
      let lastTick = effect.keyframes.last?.offsetTicks
    else {
      return nil
    }
    guard band.kind != .curve || lastTick > firstTick else {
      reportLoss(.dropped, at: effect.sourceValueIndex, "curves with zero duration are silent")
      return nil
    }
    let durationSeconds = Double(lastTick - firstTick) / Double(document.ticksPerSecond)
    let sampleRateHertz =
      durationSeconds <= 60 ? Self.curveSampleRates.short : Self.curveSampleRates.long
    guard resolver.log.errorCount == 0,
      reserveSamples(seconds: durationSeconds, rate: sampleRateHertz, at: effect.sourceValueIndex)
    else {
      return nil
    }
    let samples: [Double]
    if band.kind == .curve {
      let scale = sampleRateHertz / Double(document.ticksPerSecond)
      let factor = gain / Self.continuousReferenceAmplitude
      let points = effect.keyframes.map {
        CurveInterpolator.Point(
          samplePosition: Double($0.offsetTicks - firstTick) * scale,
          amplitude: Double($0.amplitude) * factor
        )
      }
      samples = CurveInterpolator(points: points).samples(of: band.curveKind)
    } else {
      var wave = VectorialWaveGenerator(effect, ticksPerSecond: document.ticksPerSecond)
      let step = Double(document.ticksPerSecond) / sampleRateHertz
      samples =
        (0...FrameConversion.clampedInteger(
          (durationSeconds * sampleRateHertz).rounded(.down), in: 0...Self.maximumTotalSampleCount))
        .map { frame in
          wave.sample(at: min(Double(firstTick) + Double(frame) * step, Double(lastTick))) * gain
            / Self.continuousReferenceAmplitude
        }
    }
    return SampledSignal(
      startSeconds: seconds(ofTicks: effect.startTicks + Int(firstTick)),
      sampleRate: sampleRateHertz,
      samples: samples.map { Float($0) })
  }

  /// Returns the end time of a channel's transients, waves, and curves, in ticks.
  private static func endTicks(of channel: MPEGResolver.Channel, transientTicks burst: Double)
    -> Double
  {
    var latestEndTick = 0.0
    for band in channel.bands where band.documentBand.kind != .wavelet {
      let tail = band.documentBand.kind == .transient ? burst : 0
      for effect in band.effects {
        let lastPosition = Double(effect.keyframes.last?.offsetTicks ?? 0)
        latestEndTick = max(latestEndTick, Double(effect.startTicks) + lastPosition + tail)
      }
    }
    return latestEndTick
  }

  /// Returns the exact sum of a channel's transients, waves, and curves, without clamping. As in
  /// the reference software, effects include both their first and their last frame, waves start at
  /// the position of their effect, and the frame at the end of the channel is omitted.
  private mutating func summedEffectSignal(of channel: MPEGResolver.Channel, rate: Double)
    -> SampledSignal?
  {
    let outputSamplesPerTick = rate / Double(document.ticksPerSecond)
    let burstTicks = Self.transientDurationSeconds * Double(document.ticksPerSecond)
    let recordedDurationTicks =
      channel.recordingSeconds.map { $0 * Double(document.ticksPerSecond) } ?? .infinity
    let endTicks = min(
      Self.endTicks(of: channel, transientTicks: burstTicks), recordedDurationTicks)
    let outputSampleCount = FrameConversion.clampedInteger(
      (endTicks * outputSamplesPerTick).rounded())
    guard outputSampleCount > 0, resolver.log.errorCount == 0,
      reserveSamples(
        seconds: endTicks * outputSamplesPerTick / rate, rate: rate, at: channel.sourceValueIndex)
    else { return nil }
    var summedSamples = [Float](repeating: 0, count: outputSampleCount)
    let channelGain = channel.channelGain / Self.continuousReferenceAmplitude
    func addSamples(
      from start: Double, to endTicks: Double, _ value: (_ position: Double) -> Double
    ) {
      let last = min(
        FrameConversion.clampedInteger((endTicks * outputSamplesPerTick).rounded(.down)),
        outputSampleCount - 1)
      for frame in stride(
        from: FrameConversion.clampedInteger((start * outputSamplesPerTick).rounded(.up)),
        through: last,
        by: 1)
      {
        summedSamples[frame] += Float(value(Double(frame) / outputSamplesPerTick) * channelGain)
      }
    }
    for band in channel.bands {
      for effect in band.effects {
        let start = Double(effect.startTicks)
        switch band.documentBand.kind {
        case .transient:
          for keyframe in effect.keyframes {
            let onset = start + Double(keyframe.offsetTicks)
            addSamples(from: onset, to: onset + burstTicks) {
              sin(4 * .pi * ($0 - onset) / burstTicks) * Double(keyframe.amplitude)
            }
          }
        case .vectorial:
          var wave = VectorialWaveGenerator(effect, ticksPerSecond: document.ticksPerSecond)
          addSamples(from: start, to: start + Double(effect.keyframes.last?.offsetTicks ?? 0)) {
            wave.sample(at: $0 - start)
          }
        case .curve:
          let keyframes = effect.keyframes.map {
            (
              frame: (start + Double($0.offsetTicks)) * outputSamplesPerTick,
              value: Double($0.amplitude)
            )
          }
          guard let first = keyframes.first?.frame.rounded(.down) else { continue }
          let curve = CurveInterpolator(
            points: keyframes.map { .init(samplePosition: $0.frame - first, amplitude: $0.value) })
          for (index, value) in curve.samples(of: band.documentBand.curveKind).enumerated() {
            let frame = FrameConversion.clampedInteger(first) + index
            if frame < outputSampleCount {
              summedSamples[frame] += Float(value * channelGain)
            }
          }
        case .wavelet:
          break
        }
      }
    }
    return SampledSignal(startSeconds: 0, sampleRate: rate, samples: summedSamples)
  }

  /// Returns the samples of a wavelet band up to the end of the recording.
  ///
  /// Samples of the last block beyond the end are omitted.
  private mutating func sampledSignal(
    ofBlocks band: MPEGResolver.Band, of channel: MPEGResolver.Channel
  ) -> SampledSignal? {
    let waveletSampleRateHertz = band.documentBand.upperHertzOrSampleRate
    guard !band.effects.isEmpty,
      let count = WaveletBlock(band.documentBand, timescale: document.ticksPerSecond)
        .blockSampleCount
    else {
      return nil
    }
    guard SampledSignal.supportedSampleRates.contains(waveletSampleRateHertz) else {
      reportLoss(
        .dropped, at: band.documentBand.sourceValueIndex,
        "wavelets with fewer than 100 samples per second are silent")
      return nil
    }
    guard resolver.log.errorCount == 0,
      reserveSamples(
        seconds: Double(count * band.effects.count) / waveletSampleRateHertz,
        rate: waveletSampleRateHertz,
        at: band.documentBand.sourceValueIndex)
    else { return nil }
    var waveletSamples: [Float] = []
    waveletSamples.reserveCapacity(count * band.effects.count)
    for effect in band.effects {
      for sample in WaveletDecoder.samples(of: effect.waveletStream, count: count) {
        waveletSamples.append(
          Float(sample * channel.channelGain / Self.continuousReferenceAmplitude))
      }
    }
    if let recordingSeconds = channel.recordingSeconds {
      let recordedCount = FrameConversion.clampedInteger(
        recordingSeconds * waveletSampleRateHertz, in: 0...waveletSamples.count)
      waveletSamples.removeLast(waveletSamples.count - recordedCount)
    }
    return SampledSignal(
      startSeconds: 0, sampleRate: waveletSampleRateHertz, samples: waveletSamples)
  }

  // MARK: - What is left out

  private mutating func reportDroppedContent() {
    func countedNoun(_ count: Int, _ singular: String, _ plural: String) -> String {
      count == 1 ? "1 \(singular)" : "\(count) \(plural)"
    }
    if let firstAvatar = document.avatars.first {
      reportLoss(
        .dropped, at: firstAvatar.sourceValueIndex,
        """
        \(countedNoun(document.avatars.count, "avatar", "avatars")): body locations are not \
        supported
        """
      )
    }
    if document.syncPointCount > 1 {
      losses.add(.dropped, .composition, "\(document.syncPointCount) synchronization points")
    }
    for perception in document.perceptions {
      if !perception.deviceNames.isEmpty {
        reportLoss(
          .dropped, at: perception.sourceValueIndex,
          """
          the data of \
          \(countedNoun(perception.deviceNames.count, "reference device", "reference devices"))
          """
        )
      }
      for channel in perception.channels where channel.namesBodyLocation {
        reportLoss(.dropped, at: channel.sourceValueIndex, "the body part that a channel names")
      }
      var semantic: Int?
      for channel in perception.channels {
        for band in channel.bands where semantic == nil {
          semantic = band.effects.first { $0.semanticKeywords != nil }?.sourceValueIndex
        }
      }
      if let semantic {
        reportLoss(.dropped, at: semantic, "semantic keywords of effects")
      }
    }
  }
}
