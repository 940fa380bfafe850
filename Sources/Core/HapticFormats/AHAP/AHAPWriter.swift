import HapticModel
import Reading

/// Writes a composition as AHAP files.
///
/// 1. Curves with squared interpolation are approximated by straight lines, and long events are
///    divided.
/// 2. Sampled signals become sound files with audio events, or are reported as losses.
/// 3. The layers are written to a single file or to one file each.
struct AHAPWriter {
  /// The maximum number of control points in a written curve. Older devices reject more.
  static let maximumCurvePointCount = 16

  private var composition: HapticComposition
  private let options: WritingOptions
  private var losses = LossLog()
  private var soundFiles: [WrittenFiles.File] = []

  init(_ composition: HapticComposition, options: WritingOptions) {
    self.composition = composition
    self.options = options
    if composition.loop != nil {
      losses.add(.dropped, .composition, "loop points are not supported")
      self.composition.loop = nil
    }
    for index in composition.layers.indices {
      linearizeCurves(layerIndex: index)
      replaceSignalsWithAudioEvents(layerIndex: index)
    }
  }

  /// Writes the composition, and returns its files and losses.
  func write() throws(InputError) -> WrittenFiles {
    var losses = losses
    let nonEmptyLayers = composition.layers.filter { !$0.pattern.isEmpty }
    let writesSeparateFiles =
      switch options.fileSplitting {
      case .always: nonEmptyLayers.count > 1
      case .automatic: !composition.flattensExactly && nonEmptyLayers.count > 1
      case .never: false
      }
    var writtenFiles: [WrittenFiles.File] = []
    if writesSeparateFiles {
      for (layer, suffix) in zip(nonEmptyLayers, Self.nameSuffixes(for: nonEmptyLayers)) {
        let document = try AHAPDocument(pattern: layer.pattern, metadata: composition.metadata)
        writtenFiles.append(WrittenFiles.File(nameSuffix: suffix, document.canonicalText()))
      }
    } else {
      losses.addBodyLocationLosses(of: composition)
      let document = try AHAPDocument(
        pattern: mergedPattern(losses: &losses), metadata: composition.metadata)
      writtenFiles.append(WrittenFiles.File(document.canonicalText()))
    }
    return WrittenFiles(writtenFiles + soundFiles, losses: losses.lossesWithOmittedCounts())
  }

  /// Merges the events and controls of all layers into one pattern.
  ///
  /// - Parameter losses: Receives a loss if controls affect events of other layers.
  private func mergedPattern(losses: inout LossLog) -> HapticPattern {
    guard !composition.flattensExactly else { return composition.flattened }
    if let layerMerging = LayerMerging(composition) {
      layerMerging.addLosses(to: &losses)
      return layerMerging.mergedPattern
    }
    for (index, layer) in composition.layers.enumerated()
    where !layer.pattern.parameters.isEmpty || !layer.pattern.curves.isEmpty {
      losses.add(
        .approximated, .layer(index),
        "the parameters and curves of one layer act on the events of all layers")
    }
    return composition.flattened
  }

  /// Returns the file name suffix of each layer: its name if that is a single unique word,
  /// otherwise its number.
  private static func nameSuffixes(for layers: [HapticComposition.Layer]) -> [String] {
    let layerNames = layers.map { $0.name }
    return layers.indices.map { index in
      let name = layerNames[index]
      let isWord = name.utf8.allSatisfy {
        $0 == UInt8(ascii: "-") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
      }
      let isUniqueWord = !name.isEmpty && isWord && layerNames.count { $0 == name } == 1
      return isUniqueWord ? "_\(name)" : "_\(index + 1)"
    }
  }

  /// Converts a layer to linear curves of at most 16 points, and events of at most 30 s.
  private mutating func linearizeCurves(layerIndex: Int) {
    let pattern = composition.layers[layerIndex].pattern
    guard pattern.curves.contains(where: { $0.interpolation != .linear }) else { return }
    let linearCurves = linearizedCurves(of: pattern, layerIndex: layerIndex)
    let shortEvents = eventsOfSupportedDuration(of: pattern, layerIndex: layerIndex)
    composition.layers[layerIndex].pattern.curves = linearCurves
    composition.layers[layerIndex].pattern.events = shortEvents
  }

  /// Returns a layer's curves as straight lines with at most 16 points per curve.
  private mutating func linearizedCurves(of pattern: HapticPattern, layerIndex: Int)
    -> [ParameterCurve]
  {
    var linearCurves: [ParameterCurve] = []
    for (index, curve) in pattern.curves.enumerated() {
      guard curve.interpolation != .linear else {
        linearCurves.append(curve)
        continue
      }
      let lines = curve.linearized(tolerance: options.curveToleranceFraction)
      let values = lines.controlPoints.map { $0.value }
      if zip(values, values.dropFirst()).contains(where: { $0 != $1 }) {
        losses.add(
          .approximated, .curve(layer: layerIndex, index: index),
          """
          an amplitude or frequency line is approximated by \(curve.id.rawValue), with an error of \
          up to # of full scale
          """,
          size: options.curveToleranceFraction)
      }
      linearCurves += lines.divided(maximumPointCount: Self.maximumCurvePointCount)
    }
    return linearCurves
  }

  /// Returns the events of a layer, each at most 30 s long.
  private mutating func eventsOfSupportedDuration(of pattern: HapticPattern, layerIndex: Int)
    -> [HapticEvent]
  {
    var shortEvents: [HapticEvent] = []
    for (index, event) in pattern.events.enumerated() {
      let segments = event.segments(maximumSeconds: HapticEvent.defaultDurationSeconds)
      if segments.count > 1 {
        losses.add(
          .approximated, .event(EventReference(layerIndex: layerIndex, eventIndex: index)),
          "an event longer than 30 s is split into \(segments.count) adjacent events")
      }
      shortEvents += segments
    }
    return shortEvents
  }

  /// Replaces a layer's sampled signals with audio events that play sound files.
  private mutating func replaceSignalsWithAudioEvents(layerIndex: Int) {
    let layerSignals = composition.layers[layerIndex].signals
    composition.layers[layerIndex].signals = []
    guard !layerSignals.isEmpty else { return }
    guard options.rendersUnsupportedContent else {
      return losses.add(
        .dropped, .layer(layerIndex), "sampled signals can only be written as sound files")
    }
    for signal in layerSignals {
      let suffix = "_signal\(soundFiles.count + 1)"
      soundFiles.append(
        WrittenFiles.File(
          nameSuffix: suffix, fileExtension: "wav",
          WaveFile.encodedBytes(of: signal.samples, rate: signal.sampleRate)))
      composition.layers[layerIndex].pattern.events.append(
        HapticEvent(
          kind: .audioCustom, time: signal.startSeconds,
          waveform: AudioWaveform(
            path: options.baseName + suffix + ".wav", usesVolumeEnvelope: false)))
      losses.add(
        .approximated, .layer(layerIndex),
        "sampled signals play as sound files and respond to audio controls")
    }
  }
}

extension HapticPattern {
  fileprivate var isEmpty: Bool { events.isEmpty && parameters.isEmpty && curves.isEmpty }
}

extension HapticComposition {
  /// The metadata that states the title, author, and notes of the composition.
  var metadata: AHAPMetadata {
    var fileMetadata: AHAPMetadata = [:]
    if let title {
      fileMetadata.items.append(.init(entryName: "Project", entryText: title))
    }
    if let author {
      fileMetadata.items.append(.init(entryName: "Created By", entryText: author))
    }
    if let notes {
      fileMetadata.items.append(.init(entryName: "Description", entryText: notes))
    }
    return fileMetadata
  }
}

extension ParameterCurve {
  /// Divides the curve into consecutive curves with at most `maximumPointCount` control points.
  /// Point times are relative to each curve, which begins with the last value of the previous
  /// curve.
  func divided(maximumPointCount: Int) -> [ParameterCurve] {
    guard controlPoints.count > maximumPointCount else { return [self] }
    var dividedCurves: [ParameterCurve] = []
    var firstPointIndex = 0
    while firstPointIndex < controlPoints.count - 1 {
      let end = min(firstPointIndex + maximumPointCount - 1, controlPoints.count - 1)
      let first = firstPointIndex == 0 ? 0 : controlPoints[firstPointIndex].time
      dividedCurves.append(
        ParameterCurve(
          id: id, time: time + first,
          controlPoints: controlPoints[firstPointIndex...end].map {
            ControlPoint(time: $0.time - first, value: $0.value)
          },
          interpolation: interpolation))
      firstPointIndex = end
    }
    return dividedCurves
  }
}

extension HapticEvent {
  /// Divides the event into consecutive events of at most `maximumSeconds`.
  ///
  /// Together, they play the same as the event. An event with envelope times is not divided.
  fileprivate func segments(maximumSeconds: Double) -> [HapticEvent] {
    let envelopeTimeIDs: [EventParameterID] = [.attackTime, .decayTime, .releaseTime, .sustained]
    guard kind.isVibration, let duration, duration > maximumSeconds,
      duration < 1e6 * maximumSeconds,
      !parameters.identifiers.contains(where: envelopeTimeIDs.contains)
    else { return [self] }
    return (0..<Int((duration / maximumSeconds).rounded(.up))).map { index in
      var segment = self
      segment.time = time + Double(index) * maximumSeconds
      segment.duration = min(maximumSeconds, duration - Double(index) * maximumSeconds)
      return segment
    }
  }
}
