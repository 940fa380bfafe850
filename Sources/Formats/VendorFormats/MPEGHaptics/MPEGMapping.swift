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
    location place: @escaping @Sendable (_ part: Int, _ offset: Int?) -> FileLocation
  ) {
    let resolver = MPEGResolver(document, log: log, offset: offset)
    var mapping = MPEGReader(
      document: document, resolver: resolver, sourceLocation: { place($0, nil) },
      signalRate: options.signalRate)
    mapping.read()
    let log = mapping.resolver.log
    let losses = mapping.losses.finish()
    // Clamping is reported both as a loss and as a finding, because the result sounds different
    // from the file. Only losses by clamping have a size.
    let clamped = losses.filter { $0.size != nil }.map {
      Finding(.mpegClamped, location: $0.location ?? place(0, nil), $0.message)
    }
    var composition = HapticComposition(layers: mapping.layers)
    if !document.description.isEmpty {
      composition.notes = document.description
    }
    self.init(
      composition: log.errorCount == 0 ? composition : nil,
      findings: log.findings(for: options) { place($0, $1) } + clamped, errorCount: log.errorCount,
      losses: log.errorCount == 0 && options.wantsFindings ? losses : [],
      sourceMap: SourceMap(layers: mapping.layerSourceIndices, events: mapping.eventSourceIndices) {
        place($0, nil)
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
    _ kind: Loss.Kind, at place: Int, _ message: String, size: Double? = nil
  ) {
    losses.add(kind, .composition, at: sourceLocation(place), message, size: size)
  }

  // MARK: - Channels

  private mutating func read(
    _ channel: MPEGResolver.Channel, at felt: HapticComposition.BodyLocation?
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
    var places: [Int] = []
    var signals: [SampledSignal] = []
    for band in channel.bands {
      for effect in band.effects where signalRate == nil {
        switch band.description.kind {
        case .transient:
          addTransients(of: effect, gain: channel.gain, to: &builder, sourceIndices: &places)
        case .vectorial:
          if let wave = WaveEvent(effect, timescale: document.timescale, gain: channel.gain) {
            guard let event = event(of: wave, effect: effect) else { continue }
            builder.add(event, curves: wave.curves, until: event.time + (event.duration ?? 0))
            places.append(effect.sourceIndex)
          } else if let signal = sampledSignal(
            of: effect, band: band.description, gain: channel.gain)
          {
            signals.append(signal)
          }
        case .curve:
          if let signal = sampledSignal(of: effect, band: band.description, gain: channel.gain) {
            signals.append(signal)
          }
        case .wavelet:
          break
        }
      }
      if band.description.kind == .wavelet,
        let signal = sampledSignal(ofBlocks: band, gain: channel.gain)
      {
        signals.append(signal)
      }
    }
    if let signalRate, let sum = channelSum(of: channel, rate: signalRate) {
      signals.append(sum)
    }
    var (made, references) = builder.build()
    var eventPlaces = places.isEmpty ? [[]] : [[Int]](places, at: references)
    if !signals.isEmpty, !(made[0].pattern.curves.isEmpty) {
      // Signals are in the layer of the events without curves.
      made.insert(HapticComposition.Layer(HapticPattern()), at: 0)
      eventPlaces.insert([], at: 0)
    }
    made[0].signals = signals
    for (var layer, events) in zip(made, eventPlaces) where !layer.isEmpty {
      layer.name = channel.name
      layer.bodyLocation = felt
      layers.append(layer)
      layerSourceIndices.append(channel.sourceIndex)
      self.eventSourceIndices.append(events)
    }
  }

  private func seconds(ofTicks ticks: Int) -> Double { Double(ticks) / Double(document.timescale) }

  // MARK: - Events

  private mutating func addTransients(
    of effect: MPEGDocument.Effect, gain: Double, to builder: inout LayerBuilder,
    sourceIndices places: inout [Int]
  ) {
    for key in effect.keyframes {
      let amplitude = abs(Double(key.amplitude)) * gain
      let intensity = amplitude / Self.transientAmplitude
      // A transient without a frequency has the constant frequency of the burst.
      let hertz = key.frequency.isNaN ? 2 / Self.transientDuration : Double(key.frequency)
      let sharpness = SharpnessScale.mpeg.sharpness(ofHertz: hertz)
      reportClamping(
        intensity: intensity, sharpness: sharpness, amplitude: amplitude, hertz: hertz, of: effect)
      var parameters = EventParameters()
      parameters[.hapticIntensity] = Float(min(intensity, 1))
      parameters[.hapticSharpness] = Float(min(max(sharpness, 0), 1))
      builder.add(
        HapticEvent(
          kind: .hapticTransient, time: seconds(ofTicks: effect.position + Int(key.position)),
          parameters: parameters))
      places.append(Int(key.sourceIndex) == 0 ? effect.sourceIndex : Int(key.sourceIndex))
    }
  }

  /// Returns the event of a wave, or nil if the wave has no duration, which is reported as a loss.
  private mutating func event(of wave: WaveEvent, effect: MPEGDocument.Effect) -> HapticEvent? {
    if let amplitude = wave.maximumAmplitude, amplitude > Self.continuousAmplitude {
      reportClamping(
        intensity: amplitude / Self.continuousAmplitude, sharpness: 0.5, amplitude: amplitude,
        hertz: 0, of: effect)
    }
    for hertz in wave.frequencyExtremes {
      reportClamping(
        intensity: 0, sharpness: SharpnessScale.mpeg.sharpness(ofHertz: hertz), amplitude: 0,
        hertz: hertz, of: effect)
    }
    if wave.event == nil {
      reportLoss(.dropped, at: effect.sourceIndex, "waves that last no time are silent")
    }
    return wave.event
  }

  private mutating func reportClamping(
    intensity: Double, sharpness: Double, amplitude: Double, hertz: Double,
    of effect: MPEGDocument.Effect
  ) {
    if intensity > 1 + 1e-6 {
      reportLoss(
        .approximated, at: effect.sourceIndex,
        "amplitudes above that of intensity 1 are clamped by up to # of full scale",
        size: amplitude - amplitude / intensity)
    }
    if sharpness < -1e-6 || sharpness > 1 + 1e-6 {
      reportLoss(
        .approximated, at: effect.sourceIndex,
        "frequencies outside 65 to 300 Hz are clamped by up to # Hz",
        size: sharpness < 0 ? 65 - hertz : hertz - 300)
    }
  }

  // MARK: - Signals

  /// Counts samples toward the limits, and logs an error if they exceed a limit.
  private mutating func reserveSamples(seconds: Double, rate: Double, at place: Int) -> Bool {
    let count = seconds * rate + 1
    guard signalSeconds + seconds <= SampledSignal.maximumTotalDuration,
      Double(sampleCount) + count <= Double(Self.maximumSampleCount)
    else {
      resolver.log.add(
        .mpegTooLarge, valueIndex: place, offset: resolver.offset(place),
        "curves, wavelets and waves last too long to be played as samples")
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
      reportLoss(.dropped, at: effect.sourceIndex, "curves that last no time are silent")
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

  /// Returns the exact sum of a channel's transients, waves, and curves, without clamping. As in
  /// the reference software, effects include both their first and their last frame, waves start at
  /// the position of their effect, and the frame at the end of the channel is omitted.
  private mutating func channelSum(of channel: MPEGResolver.Channel, rate: Double) -> SampledSignal?
  {
    let perTick = rate / Double(document.timescale)
    let burst = Self.transientDuration * Double(document.timescale)
    var end = 0.0
    for band in channel.bands where band.description.kind != .wavelet {
      let tail = band.description.kind == .transient ? burst : 0
      for effect in band.effects {
        let lastKey = Double(effect.keyframes.last?.position ?? 0)
        end = max(end, Double(effect.position) + lastKey + tail)
      }
    }
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
          for key in effect.keyframes {
            let onset = start + Double(key.position)
            add(from: onset, to: onset + burst) {
              sin(4 * .pi * ($0 - onset) / burst) * Double(key.amplitude)
            }
          }
        case .vectorial:
          var wave = VectorialWave(effect, timescale: document.timescale)
          add(from: start, to: start + Double(effect.keyframes.last?.position ?? 0)) {
            wave.value(at: $0 - start)
          }
        case .curve:
          let keys = effect.keyframes.map {
            (frame: (start + Double($0.position)) * perTick, value: Double($0.amplitude))
          }
          guard let first = keys.first?.frame.rounded(.down) else { continue }
          let curve = CurveInterpolator(
            points: keys.map { .init(position: $0.frame - first, value: $0.value) })
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

  private mutating func sampledSignal(ofBlocks band: MPEGResolver.Band, gain: Double)
    -> SampledSignal?
  {
    let rate = band.description.upperHertz
    guard !band.effects.isEmpty,
      let count = WaveletBlock(band.description, timescale: document.timescale).sampleCount
    else {
      return nil
    }
    guard SampledSignal.supportedRates.contains(rate) else {
      reportLoss(
        .dropped, at: band.description.sourceIndex,
        "wavelets of less than 100 samples a second are silent")
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
        samples.append(Float(sample * gain / Self.continuousAmplitude))
      }
    }
    return SampledSignal(time: 0, rate: rate, samples: samples)
  }

  // MARK: - What is left out

  private mutating func reportDroppedContent() {
    func text(_ count: Int, _ one: String, _ several: String) -> String {
      count == 1 ? "1 \(one)" : "\(count) \(several)"
    }
    if let first = document.avatars.first {
      reportLoss(
        .dropped, at: first.sourceIndex,
        "\(text(document.avatars.count, "avatar", "avatars")): bodies have no places here")
    }
    if document.syncCount > 1 {
      losses.add(.dropped, .composition, "\(document.syncCount) points of synchronisation")
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
        reportLoss(.dropped, at: channel.sourceIndex, "the part of the body that a channel names")
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

/// A vectorial wave as a continuous event with its own curves.
struct WaveEvent {
  /// The event, or nil for a wave without a duration.
  private(set) var event: HapticEvent?
  private(set) var curves: [ParameterCurve] = []
  private(set) var maximumAmplitude: Double?
  private(set) var frequencyExtremes: [Double] = []

  private typealias Breakpoints = [(time: Double, value: Double)]

  /// Returns nil for a wave that no event represents: one with another waveform than a sine, an
  /// initial phase, or negative amplitudes.
  init?(_ effect: MPEGDocument.Effect, timescale: Int, gain: Double) {
    guard effect.baseSignal == .sine, effect.phase == 0, gain >= 0,
      effect.keyframes.allSatisfy({ $0.amplitude.isNaN || $0.amplitude >= MPEGReader.quantizedZero }
      ),
      let first = effect.keyframes.first, let last = effect.keyframes.last
    else { return nil }
    let start = first.position
    func seconds(_ position: Int32) -> Double { Double(position - start) / Double(timescale) }
    let duration = seconds(last.position)
    var amplitudes: Breakpoints = effect.keyframes.filter { !$0.amplitude.isNaN }.map {
      (seconds($0.position), max(Double($0.amplitude), 0) * gain)
    }
    if amplitudes.isEmpty {
      amplitudes = [(0, gain)]
    }
    let hertz: Breakpoints = effect.keyframes.filter { !$0.frequency.isNaN }.map {
      (seconds($0.position), Double($0.frequency))
    }
    maximumAmplitude = amplitudes.map { $0.value }.max()
    frequencyExtremes = [hertz.map { $0.value }.min(), hertz.map { $0.value }.max()].compactMap {
      $0
    }
    guard duration > 0 else { return }
    let intensity = Self.clamped(
      amplitudes.map { ($0.time, $0.value / MPEGReader.continuousAmplitude) })
    let sharpness = Self.clamped(
      hertz.map { ($0.time, SharpnessScale.mpeg.sharpness(ofHertz: $0.value)) })
    let peak = intensity.map { $0.value }.max() ?? 0
    let begin = sharpness.first?.value ?? 0
    let time = (Double(effect.position) + Double(start)) / Double(timescale)
    event = HapticEvent(
      kind: .hapticContinuous, time: time, duration: duration,
      parameters: [.hapticIntensity: Float(peak), .hapticSharpness: Float(begin)])
    let isMoving =
      intensity.contains { abs($0.value - peak) > 1e-6 }
      || sharpness.contains { abs($0.value - begin) > 1e-6 }
    guard isMoving else { return }
    curves = [
      Self.curve(
        .hapticIntensityControl, at: time,
        breakpoints: intensity.map { ($0.time, peak > 0 ? $0.value / peak : 1) }),
      Self.curve(
        .hapticSharpnessControl, at: time,
        breakpoints: sharpness.map { ($0.time, $0.value - begin) }),
    ]
  }

  private static func curve(
    _ id: DynamicParameterID, at time: Double, breakpoints line: Breakpoints
  )
    -> ParameterCurve
  {
    ParameterCurve(
      id: id, time: time, controlPoints: line.map { .init(time: $0.time, value: Float($0.value)) })
  }

  /// Returns breakpoints clamped to 0…1, with additional breakpoints where the line crosses a
  /// bound.
  private static func clamped(_ line: Breakpoints) -> Breakpoints {
    if line.allSatisfy({ 0...1 ~= $0.value }) { return line }
    var clamped: Breakpoints = []
    for (index, point) in line.enumerated() {
      if index > 0 {
        let last = line[index - 1]
        // A jump between two key frames at the same position crosses a bound without a time of its
        // own.
        var crossings: Breakpoints = []
        for bound in [0.0, 1.0] where (last.value - bound) * (point.value - bound) < 0 {
          let share = (bound - last.value) / (point.value - last.value)
          crossings.append((last.time + (point.time - last.time) * share, bound))
        }
        clamped += last.value < point.value ? crossings : crossings.reversed()
      }
      clamped.append(point)
    }
    return clamped.map { ($0.time, min(max($0.value, 0), 1)) }
  }
}

/// The channels of a document in playable form: references are replaced by library effects, effects
/// and key frames are sorted, and silent content is removed and reported.
struct MPEGResolver {
  struct Channel {
    var name: String
    var modality: MPEGModality
    var gain: Double
    var bands: [Band]
    var sourceIndex: Int
  }

  struct Band {
    var description: MPEGDocument.Band
    /// The basis effects, sorted by position from the start of the document.
    var effects: [MPEGDocument.Effect]
  }

  /// The maximum number of key frames, counting those of every reference.
  static let maximumKeyframeCount = 4_000_000
  /// The maximum number of effects.
  static let maximumEffectCount = 2_000_000
  private static let maximumDepth = 16

  /// Returns the location of an element in the file, for the order of findings.
  let offset: (Int) -> Int
  var log: FindingLog
  private(set) var channels: [Channel] = []
  private var keyframeCount = 0
  private var effectCount = 0

  init(_ document: MPEGDocument, log: FindingLog, offset: @escaping (Int) -> Int) {
    self.log = log
    self.offset = offset
    for perception in document.perceptions {
      var library: [Int: MPEGDocument.Effect] = [:]
      for effect in perception.effectLibrary {
        guard let id = effect.id else { continue }
        if library[id] == nil {
          library[id] = effect
        } else {
          report(
            .mpegDuplicateID, at: effect.sourceIndex, "the library has another effect with id \(id)"
          )
        }
      }
      for channel in perception.channels {
        channels.append(
          Channel(
            name: channel.description.isEmpty ? perception.description : channel.description,
            modality: perception.modality, gain: channel.gain * powerOfTen(perception.unitExponent),
            bands: channel.bands.map {
              resolved($0, timescale: document.timescale, library: library)
            },
            sourceIndex: channel.sourceIndex))
      }
    }
  }

  private mutating func report(_ rule: Rule, at place: Int, _ message: @autoclosure () -> String) {
    log.add(rule, valueIndex: place, offset: offset(place), message())
  }

  private mutating func resolved(
    _ band: MPEGDocument.Band, timescale: Int, library: [Int: MPEGDocument.Effect]
  )
    -> Band
  {
    var description = band
    description.effects = []
    var effects: [MPEGDocument.Effect] = []
    if band.kind == .wavelet {
      let block = WaveletBlock(band, timescale: timescale)
      if block.sampleCount == nil {
        report(
          .mpegBlockLength, at: band.sourceIndex,
          """
          a block of \(band.blockLength) ticks at \(band.upperHertz) samples a second is not a power \
          of two 
          """
            + "from 16 to 65536 samples; the band is silent")
        return Band(description: description, effects: [])
      }
    }
    for effect in band.effects {
      append(effect, at: 0, of: band, library: library, depth: 0, to: &effects)
    }
    let isSorted = zip(effects, effects.dropFirst()).allSatisfy { $0.position <= $1.position }
    if !isSorted, band.kind != .wavelet {
      let order = effects.indices.sorted { (effects[$0].position, $0) < (effects[$1].position, $1) }
      effects = order.map { effects[$0] }
    }
    return Band(description: description, effects: effects)
  }

  private mutating func append(
    _ effect: MPEGDocument.Effect, at start: Int, of band: MPEGDocument.Band,
    library: [Int: MPEGDocument.Effect],
    depth: Int, to effects: inout [MPEGDocument.Effect]
  ) {
    guard depth <= Self.maximumDepth else {
      return report(
        .mpegTooLarge, at: effect.sourceIndex, "effects refer to effects more than 16 deep")
    }
    effectCount += 1
    guard effectCount <= Self.maximumEffectCount, keyframeCount <= Self.maximumKeyframeCount else {
      if effectCount == Self.maximumEffectCount + 1 || keyframeCount > Self.maximumKeyframeCount {
        report(
          .mpegTooLarge, at: effect.sourceIndex,
          "there are more than \(Self.maximumEffectCount) effects or \(Self.maximumKeyframeCount) key frames to play"
        )
        keyframeCount = Self.maximumKeyframeCount
        effectCount = Self.maximumEffectCount + 2
      }
      return
    }
    switch effect.kind {
    case .basis:
      if let basis = resolvedBasis(effect, at: start, of: band) {
        effects.append(basis)
      }
    case .reference:
      guard let id = effect.id, let named = library[id] else {
        let id = effect.id.map { "\($0)" } ?? "none"
        return report(
          .mpegUnknownReference, at: effect.sourceIndex,
          "the library has no effect with the id of this reference, \(id)")
      }
      var copy = named
      copy.sourceIndex = effect.sourceIndex
      append(
        copy, at: start + effect.position, of: band, library: library, depth: depth + 1,
        to: &effects)
    case .composite:
      for child in effect.children {
        append(
          child, at: start + effect.position, of: band, library: library, depth: depth + 1,
          to: &effects)
      }
    }
  }

  /// Returns an effect with sorted key frames, or nil if the effect is silent.
  private mutating func resolvedBasis(
    _ effect: MPEGDocument.Effect, at start: Int, of band: MPEGDocument.Band
  ) -> MPEGDocument
    .Effect?
  {
    var effect = effect
    effect.position += start
    if band.kind == .wavelet { return effect }
    keyframeCount += effect.keyframes.count
    let keys = effect.keyframes
    if !zip(keys, keys.dropFirst()).allSatisfy({ $0.position <= $1.position }) {
      report(.mpegKeyOrder, at: effect.sourceIndex, "key frames are not sorted by position")
      let order = keys.indices.sorted { (keys[$0].position, $0) < (keys[$1].position, $1) }
      effect.keyframes = order.map { keys[$0] }
    }
    if band.kind != .vectorial, keys.contains(where: { $0.amplitude.isNaN }) {
      report(
        .mpegMissingAmplitude, at: effect.sourceIndex, "a key frame has no amplitude and is ignored"
      )
      effect.keyframes.removeAll { $0.amplitude.isNaN }
    }
    guard !effect.keyframes.isEmpty else {
      report(.mpegMissingKeys, at: effect.sourceIndex, "the effect has no key frames and is silent")
      return nil
    }
    guard band.kind == .vectorial else { return effect }
    if !keys.contains(where: { !$0.frequency.isNaN }) {
      report(
        .mpegMissingFrequency, at: effect.sourceIndex, "the wave has no frequency and is silent")
      return nil
    }
    if band.lowerHertz < band.upperHertz,
      let outside = keys.first(where: {
        Double($0.frequency) < band.lowerHertz || Double($0.frequency) > band.upperHertz
      })
    {
      report(
        .mpegFrequencyOutsideBand, at: effect.sourceIndex,
        "\(outside.frequency) Hz is outside the band from \(band.lowerHertz) to \(band.upperHertz) Hz"
      )
      for index in effect.keyframes.indices where !effect.keyframes[index].frequency.isNaN {
        effect.keyframes[index].frequency = min(
          max(effect.keyframes[index].frequency, Float(band.lowerHertz)), Float(band.upperHertz))
      }
    }
    return effect
  }
}

func powerOfTen(_ exponent: Int) -> Double {
  var value = 1.0
  for _ in 0..<abs(exponent) {
    value *= 10
  }
  return exponent < 0 ? 1 / value : value
}
