import Reading
import HapticModel

/// A composition on the way to files of AHAP as Apple documents it.
struct AHAPComposition {
  /// The most control points of a curve that is made here: older devices refuse more.
  static let pointLimit = 16

  private var composition: HapticComposition
  private let options: WritingOptions
  private var losses = LossLog()
  private var sounds: [Writing.File] = []

  init(_ composition: HapticComposition, options: WritingOptions) {
    self.composition = composition
    self.options = options
    if composition.loop != nil {
      losses.add(.dropped, .composition, "loop points cannot be written")
      self.composition.loop = nil
    }
    for index in composition.layers.indices {
      linearize(layer: index)
      placeSignals(of: index)
    }
  }

  /// One file, or one for each layer.
  func write() throws(InputError) -> Writing {
    var losses = losses
    let layers = composition.layers.filter { !$0.pattern.isEmpty }
    let isSplit =
      switch options.split {
      case .always: layers.count > 1
      case .automatic: !composition.isFlatteningExact && layers.count > 1
      case .never: false
      }
    var files: [Writing.File] = []
    if isSplit {
      for (layer, suffix) in zip(layers, Self.suffixes(of: layers)) {
        let document = try AHAPDocument(pattern: layer.pattern, metadata: composition.metadata)
        files.append(Writing.File(suffix: suffix, document.formatted()))
      }
    } else {
      losses.mergePlaces(of: composition)
      if !composition.isFlatteningExact {
        for (index, layer) in composition.layers.enumerated()
        where !layer.pattern.parameters.isEmpty || !layer.pattern.curves.isEmpty {
          losses.add(
            .approximated, .layer(index), "the parameters and curves of one layer act on the events of all layers")
        }
      }
      let document = try AHAPDocument(pattern: composition.flattened, metadata: composition.metadata)
      files.append(Writing.File(document.formatted()))
    }
    return Writing(files + sounds, losses: losses.finish())
  }

  /// What follows the name of the file of each layer: its own name where that is one word that no
  /// other layer has, else its number.
  private static func suffixes(of layers: [HapticComposition.Layer]) -> [String] {
    let names = layers.map { $0.name }
    return layers.indices.map { index in
      let name = names[index]
      let isWord = name.utf8.allSatisfy {
        $0 == UInt8(ascii: "-") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
      }
      let isOwn = !name.isEmpty && isWord && names.count { $0 == name } == 1
      return isOwn ? "_\(name)" : "_\(index + 1)"
    }
  }

  /// Straight lines for curves of squares, in curves of 16 points, and events of 30 s at most below
  /// them.
  private mutating func linearize(layer: Int) {
    let pattern = composition.layers[layer].pattern
    guard pattern.curves.contains(where: { $0.interpolation != .linear }) else { return }
    var curves: [ParameterCurve] = []
    for (index, curve) in pattern.curves.enumerated() {
      guard curve.interpolation != .linear else {
        curves.append(curve)
        continue
      }
      let lines = curve.linearized(tolerance: options.tolerance)
      let values = lines.controlPoints.map { $0.value }
      if zip(values, values.dropFirst()).contains(where: { $0 != $1 }) {
        losses.add(
          .approximated, .curve(layer: layer, index: index),
          "a line of amplitude or frequency becomes lines of \(curve.id.rawValue), within # of full scale",
          size: options.tolerance)
      }
      curves += lines.divided(Self.pointLimit)
    }
    var events: [HapticEvent] = []
    for (index, event) in pattern.events.enumerated() {
      let pieces = event.pieces(of: HapticEvent.unlimitedDuration)
      if pieces.count > 1 {
        losses.add(
          .approximated, .event(EventReference(layer: layer, event: index)),
          "an event of more than 30 s becomes \(pieces.count) that touch")
      }
      events += pieces
    }
    composition.layers[layer].pattern.curves = curves
    composition.layers[layer].pattern.events = events
  }

  /// Sampled signals as sound files, or as losses.
  private mutating func placeSignals(of layer: Int) {
    let signals = composition.layers[layer].signals
    composition.layers[layer].signals = []
    guard !signals.isEmpty else { return }
    guard options.isBaked else {
      losses.add(.dropped, .layer(layer), "sampled signals can only be written as sound files")
      return
    }
    for signal in signals {
      let suffix = "_signal\(sounds.count + 1)"
      sounds.append(Writing.File(suffix: suffix, ending: "wav", WaveFile.bytes(of: signal.samples, rate: signal.rate)))
      composition.layers[layer].pattern.events.append(
        HapticEvent(
          kind: .audioCustom, time: signal.time,
          waveform: AudioWaveform(path: options.name + suffix + ".wav", usesVolumeEnvelope: false)))
      losses.add(.approximated, .layer(layer), "sampled signals are played as sound, by audio controls")
    }
  }
}

extension HapticPattern {
  /// Whether nothing is in it.
  fileprivate var isEmpty: Bool { events.isEmpty && parameters.isEmpty && curves.isEmpty }
}

extension HapticComposition {
  /// What a file says about itself in words.
  var metadata: AHAPMetadata {
    var metadata = AHAPMetadata()
    if let title { metadata.items.append(.init(name: "Project", text: title)) }
    if let author { metadata.items.append(.init(name: "Created By", text: author)) }
    if let notes { metadata.items.append(.init(name: "Description", text: notes)) }
    return metadata
  }
}

extension ParameterCurve {
  /// Curves of a number of points at most that follow each other, each with times from its start and
  /// the last value of the one before; itself where it has no more.
  func divided(_ count: Int) -> [ParameterCurve] {
    guard controlPoints.count > count else { return [self] }
    var curves: [ParameterCurve] = []
    var start = 0
    while start < controlPoints.count - 1 {
      let end = min(start + count - 1, controlPoints.count - 1)
      let first = start == 0 ? 0 : controlPoints[start].time
      curves.append(
        ParameterCurve(
          id: id, time: time + first,
          controlPoints: controlPoints[start...end].map { ControlPoint(time: $0.time - first, value: $0.value) },
          interpolation: interpolation))
      start = end
    }
    return curves
  }
}

extension HapticEvent {
  /// Events of a number of seconds at most that follow each other and together are this one; itself
  /// where it is no longer, or has envelope times.
  fileprivate func pieces(of seconds: Double) -> [HapticEvent] {
    let times: [EventParameterID] = [.attackTime, .decayTime, .releaseTime, .sustained]
    guard kind.isVibration, let duration, duration > seconds, duration < 1e6 * seconds,
      !parameters.identifiers.contains(where: times.contains)
    else { return [self] }
    return (0..<Int((duration / seconds).rounded(.up))).map { index in
      var piece = self
      piece.time = time + Double(index) * seconds
      piece.duration = min(seconds, duration - Double(index) * seconds)
      return piece
    }
  }
}
