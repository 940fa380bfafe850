internal import CMath
package import HapticModel
package import HapticRender

/// An event of a composition with its index and ordinal.
package struct IndexedEvent {
  /// The index of the event among all events of the composition, counted layer by layer.
  package var compositionIndex: Int
  /// The index of the layer that contains the event.
  package var layerIndex = 0
  package var kind: HapticEvent.Kind
  /// The start time of the event, in seconds from the start of the pattern.
  package var timeSeconds: Double
  /// The duration of the event until its release, in seconds.
  ///
  /// The duration is nil for a transient or an entire sound file.
  package var durationSeconds: Double?
  /// The values of the event's parameters, in the order of `EventParameterID.allCases`.
  ///
  /// Parameters that do not affect events of this kind have the value 0.
  package var parameterValues: [Double]
  /// The sound file that the event plays, or nil.
  package var audioWaveform: AudioWaveform?
  /// The body location of a haptic event.
  ///
  /// The location is nil if the event plays at every location, or if the pattern addresses only
  /// one.
  package var bodyLocation: HapticComposition.BodyLocation?
  /// The ordinal number among the events of the same kind, from 1.
  ///
  /// It is 0 for an event without a number.
  package var ordinalNumber = 0

  package init(_ event: HapticEvent, compositionIndex index: Int) {
    self.compositionIndex = index
    kind = event.kind
    timeSeconds = event.time.isFinite ? event.time : 0
    durationSeconds = event.kind.isTransient ? nil : event.secondsUntilRelease
    parameterValues = EventParameterID.allCases.map { id in
      event.kind.responds(to: id) ? Double(event.value(of: id)) : 0
    }
    audioWaveform = event.kind.playsFile ? event.waveform : nil
  }

  /// Returns the value of a parameter, or 0 if the parameter does not affect the event.
  package func value(_ id: EventParameterID) -> Double {
    parameterValues[EventParameterID.allCases.firstIndex(of: id) ?? 0]
  }

  /// The start time of the event's release, in seconds.
  package var releaseStartSeconds: Double { timeSeconds + (durationSeconds ?? 0) }

  /// The duration of the sound after `releaseStartSeconds`, in seconds.
  ///
  /// Bursts of the shipped profiles are at most 40 ms long.
  package var tailSeconds: Double {
    max(
      kind.isTransient ? 0.04 : EnvelopeTimes.seconds(normalized: Float(value(.releaseTime))),
      EnvelopeTimes.minimumRampSeconds)
  }

  /// The intensity of a haptic event or the volume of an audio event, 0…1.
  package var intensityOrVolume: Double { isHaptic ? value(.hapticIntensity) : value(.audioVolume) }

  package var isHaptic: Bool { kind.isHaptic }

  /// Returns true if another event has the same effect, regardless of its time.
  package func isEquivalent(to other: IndexedEvent) -> Bool {
    kind == other.kind && areEqual(durationSeconds, other.durationSeconds)
      && zip(parameterValues, other.parameterValues).allSatisfy { abs($0 - $1) < 1e-6 }
      && audioWaveform == other.audioWaveform && hasSameBodyLocation(as: other)
  }

  /// Returns true if another event plays at the same body location.
  package func hasSameBodyLocation(as other: IndexedEvent) -> Bool {
    guard let bodyLocation, let otherLocation = other.bodyLocation else {
      return bodyLocation == other.bodyLocation
    }
    return bodyLocation.isSameLocation(as: otherLocation)
  }

  private func areEqual(_ first: Double?, _ second: Double?) -> Bool {
    guard let first, let second else { return (first == nil) == (second == nil) }
    return abs(first - second) < 1e-6
  }

  /// Returns the cost of pairing the event with another event.
  ///
  /// The cost is 0 for equivalent events at the same time, and 1 for a distance of half a second.
  package func pairingCost(with other: IndexedEvent) -> Double {
    guard kind == other.kind else { return .infinity }
    var parameterDifference = 0.0
    for (value, otherValue) in zip(parameterValues, other.parameterValues) {
      parameterDifference += abs(value - otherValue)
    }
    if let durationSeconds, let otherDuration = other.durationSeconds {
      parameterDifference +=
        abs(durationSeconds - otherDuration) / max(durationSeconds, otherDuration, 1e-3)
    }
    if audioWaveform != other.audioWaveform {
      parameterDifference += 0.5
    }
    if !hasSameBodyLocation(as: other) {
      parameterDifference += 0.5
    }
    return abs(timeSeconds - other.timeSeconds) / 0.5 + min(0.8, parameterDifference / 2)
  }

  /// Returns the events of all layers, sorted by time and numbered by kind.
  package static func events(of composition: HapticComposition) -> [IndexedEvent] {
    var events: [IndexedEvent] = []
    for (layer, content) in composition.layers.enumerated() {
      for event in content.pattern.events {
        events.append(IndexedEvent(event, compositionIndex: events.count))
        events[events.count - 1].layerIndex = layer
        // The only location of a device is everywhere.
        if event.kind.isHaptic, let location = content.bodyLocation,
          location.addressedLocationCount > 1
        {
          events[events.count - 1].bodyLocation = location
        }
      }
    }
    let sortOrderByKind = Dictionary(uniqueKeysWithValues: zip(HapticEvent.Kind.allCases, 0...))
    events.sort { first, second in
      if first.timeSeconds != second.timeSeconds { return first.timeSeconds < second.timeSeconds }
      if first.kind != second.kind {
        return sortOrderByKind[first.kind] ?? 0 < sortOrderByKind[second.kind] ?? 0
      }
      for (value, otherValue) in zip(first.parameterValues, second.parameterValues)
      where value != otherValue {
        return value < otherValue
      }
      return (first.durationSeconds ?? 0, first.layerIndex) < (
        second.durationSeconds ?? 0, second.layerIndex
      )
    }
    var eventCountsByKind: [HapticEvent.Kind: Int] = [:]
    for index in events.indices {
      eventCountsByKind[events[index].kind, default: 0] += 1
      events[index].ordinalNumber = eventCountsByKind[events[index].kind] ?? 0
    }
    return events
  }
}

extension TransducerProfile {
  /// Returns the frequency for the sharpness or pitch of an event, in hertz.
  ///
  /// For a sound file, returns the playback rate instead.
  ///
  /// - Parameters:
  ///   - value: The sharpness of a haptic event, or the pitch of an audio event.
  ///   - kind: The kind of the event.
  package func hertz(_ value: Double, of kind: HapticEvent.Kind) -> Double {
    if kind.isHaptic {
      return frequencyAndLevel(of: kind).frequency.hertz(atSharpness: value)
    }
    // The renderer's pitch range is one octave on both sides of twice the end of the band.
    return (kind.playsFile ? 1 : 2 * frequency.highHertz) * pow(2, value)
  }
}
