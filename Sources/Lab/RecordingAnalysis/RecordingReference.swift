internal import CMath
import HapticModel
import HapticRender
import SignalAnalysis

/// The reference of a comparison with a recording: one waveform per event, and their sum.
///
/// The waveforms of a pattern are rendered event by event. Those of a sound are cut at its silences
/// and onsets. Either way, the sum of all waveforms is the reference's signal, and a changed event
/// is a
/// changed waveform.
package struct RecordingReference {
  /// The sample rate, in hertz: about 4,000.
  let sampleRate: Double
  /// The waveforms of the events, sorted by time.
  package var waveforms: [EventWaveform]
  /// The groups of indistinguishable waveforms, as indices of `waveforms`.
  private(set) var indistinguishableWaveformGroups: [[Int]] = []
  /// The sum of the waveforms.
  private(set) var mixedSignal: [Float] = []
  /// The peak magnitude of `mixedSignal`.
  private(set) var peakMagnitude = 0.0
  /// The renderer of single events, or nil for a sound.
  let eventRenderer: EventRenderer?

  /// The minimum correlation coefficient of indistinguishable overlapping waveforms.
  private static let minimumIndistinguishableCorrelation = 0.97
  /// The minimum audible magnitude at both ends of a waveform, relative to the peak.
  private static let minimumAudiblePeakRatio: Float = 1e-3

  /// The end time of the last waveform, in seconds.
  package var durationSeconds: Double { waveforms.map(\.endSeconds).max() ?? 0 }
  /// A Boolean value that indicates whether clock drift over the reference is negligible.
  ///
  /// The drift of typical clocks is less than 0.5 ms.
  var hasNegligibleClockDrift: Bool { durationSeconds < 0.6 }

  /// A Boolean value that indicates whether the reference has only a few events.
  ///
  /// Other sounds in the recording may then be stronger than the events, and similar to them.
  var hasFewEvents: Bool { waveforms.count <= 3 }

  init(waveforms: [EventWaveform], sampleRate rate: Double, eventRenderer renderer: EventRenderer?)
  {
    self.sampleRate = rate
    self.eventRenderer = renderer
    self.waveforms = waveforms.filter { $0.sampleEnergy > 0 }.sorted {
      $0.eventSeconds < $1.eventSeconds
    }
    if let endSeconds = self.waveforms.map(\.endSeconds).max() {
      mixedSignal = [Float](repeating: 0, count: max(0, Int(endSeconds * rate)) + 64)
      for waveform in self.waveforms {
        waveform.designColumn(onset: waveform.eventSeconds, timeScale: 1, count: mixedSignal.count)
          .add(
            to: &mixedSignal, times: 1)
      }
    }
    peakMagnitude = Double(Statistics.peak(of: mixedSignal))
    var groupColumns: [DesignColumn] = []
    for (index, waveform) in self.waveforms.enumerated() {
      let column = waveform.designColumn(
        onset: waveform.eventSeconds, timeScale: 1, count: mixedSignal.count)
      let energy = Vector.energy(column.samples)
      let similarGroup = indistinguishableWaveformGroups.indices.suffix(12).first {
        column.dotProduct(groupColumns[$0]) > Self.minimumIndistinguishableCorrelation
          * (energy * Vector.energy(groupColumns[$0].samples)).squareRoot()
      }
      if let similarGroup {
        indistinguishableWaveformGroups[similarGroup].append(index)
      } else {
        indistinguishableWaveformGroups.append([index])
        groupColumns.append(column)
      }
    }
  }

  /// Returns the waveform of an event without its inaudible ends, or nil for silence.
  ///
  /// - Parameters:
  ///   - event: The event.
  ///   - samples: The samples; indices are counted from the start of the reference.
  ///   - rate: The sample rate, in hertz.
  ///   - minimumThreshold: The minimum magnitude that is audible.
  static func trimmedWaveform(
    _ event: IndexedEvent, _ samples: ArraySlice<Float>, rate: Double, minimumThreshold: Float
  ) -> EventWaveform? {
    let audibleMagnitude = max(
      Statistics.peak(of: samples) * minimumAudiblePeakRatio, minimumThreshold)
    guard let firstAudibleIndex = samples.firstIndex(where: { abs($0) > audibleMagnitude }),
      let lastAudibleIndex = samples.lastIndex(where: { abs($0) > audibleMagnitude })
    else { return nil }
    let marginSamples = Int(0.004 * rate)
    let trimmedRange =
      max(
        samples.startIndex, firstAudibleIndex - marginSamples)..<min(
        samples.endIndex, lastAudibleIndex + 1 + marginSamples)
    return EventWaveform(
      event, eventSeconds: event.timeSeconds,
      firstSampleOffsetSeconds: Double(trimmedRange.lowerBound) / rate - event.timeSeconds,
      samples: Array(samples[trimmedRange]),
      sampleRate: rate)
  }
}

extension RecordingReference {
  /// Cuts a sound into regions between silences, and cuts the regions at onsets.
  ///
  /// - Parameters:
  ///   - signal: The sound.
  ///   - noise: The mean square of the sound's own noise.
  init(_ signal: LowRateSignal, noise: Double) {
    let silenceMagnitude = max(
      ActiveRegion.silenceMagnitude(of: signal.samples), Float(4.5 * noise.squareRoot()))
    let activeRegions = ActiveRegion.findRegions(
      in: signal.samples, rate: signal.decimatedRate, threshold: silenceMagnitude)
    let onsetSamples = Onsets(in: Signal(signal.samples, rate: signal.decimatedRate)).map {
      Int($0.timeSeconds * signal.decimatedRate)
    }
    var regionsAndOnsets: [ActiveRegion] = []
    for region in activeRegions {
      var start = region.sampleRange.lowerBound
      for onset in onsetSamples
      where onset > start + Int(0.03 * signal.decimatedRate)
        && onset < region.sampleRange.upperBound - Int(0.01 * signal.decimatedRate)
      {
        regionsAndOnsets.append(
          ActiveRegion(sampleRange: start..<onset, sampleRate: signal.decimatedRate))
        start = onset
      }
      regionsAndOnsets.append(
        ActiveRegion(
          sampleRange: start..<region.sampleRange.upperBound, sampleRate: signal.decimatedRate))
    }
    ActiveRegion.assignOrdinals(to: &regionsAndOnsets)
    let marginSamples = Int(0.008 * signal.decimatedRate)
    var waveforms: [EventWaveform] = []
    for (index, region) in regionsAndOnsets.prefix(2_000).enumerated() {
      // Adjacent regions meet at an onset. Other regions keep the decay around them.
      let previousEnd = index > 0 ? regionsAndOnsets[index - 1].sampleRange.upperBound : 0
      let nextStart =
        index + 1 < regionsAndOnsets.count
        ? regionsAndOnsets[index + 1].sampleRange.lowerBound : signal.samples.count
      let range =
        max(
          previousEnd, region.sampleRange.lowerBound - marginSamples)..<min(
          nextStart, region.sampleRange.upperBound + marginSamples)
      waveforms.append(
        EventWaveform(
          region.event(), eventSeconds: region.startSeconds,
          firstSampleOffsetSeconds: Double(range.lowerBound - region.sampleRange.lowerBound)
            / signal.decimatedRate,
          samples: Array(signal.samples[range]), sampleRate: signal.decimatedRate))
    }
    self.init(waveforms: waveforms, sampleRate: signal.decimatedRate, eventRenderer: nil)
  }

  /// Renders each event of a pattern separately.
  ///
  /// Returns nil if the sum of the renderings is not the pattern's signal.
  ///
  /// Events that do not overlap are rendered together. A remainder that no event explains, such as
  /// a sound file, is cut like a sound.
  ///
  /// - Parameters:
  ///   - source: The pattern and its rendering.
  ///   - target: The approximate sample rate of the reference, in hertz.
  init?(_ source: ReferenceSource, target: Double = 4_000) {
    guard let composition = source.composition else { return nil }
    let renderer = EventRenderer(
      composition: composition, profile: source.profile, renderingSampleRate: source.signal.rate,
      decimator: Decimator(rate: source.signal.rate, targetRate: target))
    let lowRateSignal = LowRateSignal(
      of: source.signal.mono, rate: source.signal.rate, targetRate: target)
    let events = IndexedEvent.events(of: composition).filter { !$0.kind.playsFile }
    guard events.count <= 2_000,
      let renderings = renderer.renderings(of: events, count: source.signal.frameCount)
    else {
      return nil
    }
    var unexplainedSamples = lowRateSignal.samples
    for rendering in renderings {
      Vector.add(rendering.samples, times: -1, to: &unexplainedSamples, at: 0)
    }
    let minimumMagnitude = Statistics.peak(of: lowRateSignal.samples) * 1e-4
    var waveforms: [EventWaveform] = []
    for rendering in renderings {
      for (event, range) in rendering.events {
        let slice = rendering.samples[range.clamped(to: rendering.samples.indices)]
        if let waveform = Self.trimmedWaveform(
          event, slice, rate: lowRateSignal.decimatedRate, minimumThreshold: minimumMagnitude)
        {
          waveforms.append(waveform)
        }
      }
    }
    let hasSounds = composition.layers.contains {
      !$0.signals.isEmpty || $0.pattern.events.contains { $0.kind.playsFile }
    }
    let residualRatio =
      Vector.energy(unexplainedSamples) / max(Vector.energy(lowRateSignal.samples), 1e-30)
    if residualRatio > 0.1, !hasSounds { return nil }
    if residualRatio > 1e-8 {
      Self.distributeResidual(
        unexplainedSamples, over: &waveforms, rate: lowRateSignal.decimatedRate,
        hasSounds: hasSounds)
    }
    self.init(
      waveforms: waveforms, sampleRate: lowRateSignal.decimatedRate, eventRenderer: renderer)
  }

  /// Adds the residual of the separate renderings to the waveforms.
  ///
  /// In each 10 ms block, the loudest waveform receives the residual.
  ///
  /// If the pattern plays sound files, a residual louder than every waveform becomes waveforms of
  /// its own.
  ///
  /// - Parameters:
  ///   - residual: The pattern's signal minus the sum of the waveforms.
  ///   - waveforms: The waveforms to change.
  ///   - rate: The sample rate, in hertz.
  ///   - hasSounds: Pass true if the pattern plays sound files.
  private static func distributeResidual(
    _ residual: [Float], over waveforms: inout [EventWaveform], rate: Double, hasSounds: Bool
  ) {
    var samplesByWaveform = waveforms.map(\.samples)
    let waveformStartSamples = waveforms.map { Int(($0.startSeconds * rate).rounded()) }
    let blockSampleCount = Int(0.01 * rate)
    var remainingResidual = residual
    for first in stride(from: 0, to: residual.count, by: blockSampleCount) {
      let range = first..<min(residual.count, first + blockSampleCount)
      guard Vector.energy(residual, range) > 0 else { continue }
      var loudest = (energy: 0.0, index: -1)
      for index in samplesByWaveform.indices
      where waveformStartSamples[index] <= range.lowerBound
        && waveformStartSamples[index] + samplesByWaveform[index].count >= range.upperBound
      {
        let energy = Vector.energy(
          samplesByWaveform[index],
          range.lowerBound - waveformStartSamples[index]..<range.upperBound
            - waveformStartSamples[index])
        if energy > loudest.energy {
          loudest = (energy, index)
        }
      }
      guard loudest.index >= 0, Vector.energy(residual, range) < loudest.energy || !hasSounds
      else {
        continue
      }
      for index in range {
        samplesByWaveform[loudest.index][index - waveformStartSamples[loudest.index]] +=
          residual[index]
        remainingResidual[index] = 0
      }
    }
    for index in waveforms.indices {
      waveforms[index] = waveforms[index].replacing(samples: samplesByWaveform[index])
    }
    guard hasSounds else { return }
    let remainderReference = RecordingReference(
      LowRateSignal(of: remainingResidual, rate: rate, targetRate: rate), noise: 0)
    for var waveform in remainderReference.waveforms {
      let ordinal = waveform.indexedEvent.ordinalNumber
      waveform.indexedEvent = IndexedEvent(
        HapticEvent(kind: .audioCustom, time: waveform.eventSeconds), compositionIndex: 0)
      waveform.indexedEvent.ordinalNumber = ordinal
      waveforms.append(waveform)
    }
  }
}
