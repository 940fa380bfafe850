internal import CMath
package import HapticModel
package import HapticRender

/// An event of a composition with its index and ordinal.
package struct IndexedEvent {
  /// The index in the events of the composition, counted layer by layer.
  package var index: Int
  /// The index of the layer.
  package var layer = 0
  package var kind: HapticEvent.Kind
  /// The time, in seconds from the start of the pattern.
  package var time: Double
  /// The time to the release, in seconds, or nil for a transient or an entire sound file.
  package var duration: Double?
  /// The values of the parameters that affect events of this kind, in the order of
  /// `EventParameterID.allCases`. Other values are 0.
  package var values: [Double]
  /// The sound file, for an event that plays one.
  package var waveform: AudioWaveform?
  /// The body location at which a haptic event plays, or nil for every location, or if the pattern
  /// addresses only one.
  package var bodyLocation: HapticComposition.BodyLocation?
  /// The ordinal number among the events of the same kind, from 1. It is 0 for an event without a
  /// number.
  package var ordinal = 0

  package init(_ event: HapticEvent, index: Int) {
    self.index = index
    kind = event.kind
    time = event.time.isFinite ? event.time : 0
    duration = event.kind.isTransient ? nil : event.holdDuration
    values = EventParameterID.allCases.map { id in
      event.kind.responds(to: id) ? Double(event.value(of: id)) : 0
    }
    waveform = event.kind.playsFile ? event.waveform : nil
  }

  /// Returns the value of a parameter, or 0 if the parameter does not affect the event.
  package func value(_ id: EventParameterID) -> Double {
    values[EventParameterID.allCases.firstIndex(of: id) ?? 0]
  }

  /// The time at which the release begins, in seconds.
  package var end: Double { time + (duration ?? 0) }

  /// The duration of the sound after `end`, in seconds. Bursts of the shipped profiles are at most
  /// 40 ms long.
  package var tailDuration: Double {
    max(
      kind.isTransient ? 0.04 : EnvelopeTimes.seconds(normalized: Float(value(.releaseTime))),
      EnvelopeTimes.minimumRampSeconds)
  }

  /// The intensity or volume, 0...1.
  package var strength: Double { isHaptic ? value(.hapticIntensity) : value(.audioVolume) }

  package var isHaptic: Bool { kind.isHaptic }

  /// Returns whether another event has the same effect, regardless of its time.
  package func isEquivalent(to other: IndexedEvent) -> Bool {
    kind == other.kind && areEqual(duration, other.duration)
      && zip(values, other.values).allSatisfy { abs($0 - $1) < 1e-6 }
      && waveform == other.waveform && hasSameBodyLocation(as: other)
  }

  /// Returns whether another event plays at the same body location.
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

  /// Returns the cost of pairing the event with another: 0 for equivalent events at the same time,
  /// 1 for a distance of half a second.
  package func pairingCost(with other: IndexedEvent) -> Double {
    guard kind == other.kind else { return .infinity }
    var difference = 0.0
    for (value, otherValue) in zip(values, other.values) {
      difference += abs(value - otherValue)
    }
    if let duration, let otherDuration = other.duration {
      difference += abs(duration - otherDuration) / max(duration, otherDuration, 1e-3)
    }
    if waveform != other.waveform {
      difference += 0.5
    }
    if !hasSameBodyLocation(as: other) {
      difference += 0.5
    }
    return abs(time - other.time) / 0.5 + min(0.8, difference / 2)
  }

  /// Returns the events of all layers, sorted by time and numbered by kind.
  package static func events(of composition: HapticComposition) -> [IndexedEvent] {
    var events: [IndexedEvent] = []
    for (layer, content) in composition.layers.enumerated() {
      for event in content.pattern.events {
        events.append(IndexedEvent(event, index: events.count))
        events[events.count - 1].layer = layer
        // The only location of a device is everywhere.
        if event.kind.isHaptic, let location = content.bodyLocation, location.count > 1 {
          events[events.count - 1].bodyLocation = location
        }
      }
    }
    let order = Dictionary(uniqueKeysWithValues: zip(HapticEvent.Kind.allCases, 0...))
    events.sort { first, second in
      if first.time != second.time { return first.time < second.time }
      if first.kind != second.kind {
        return order[first.kind] ?? 0 < order[second.kind] ?? 0
      }
      for (value, otherValue) in zip(first.values, second.values) where value != otherValue {
        return value < otherValue
      }
      return (first.duration ?? 0, first.layer) < (second.duration ?? 0, second.layer)
    }
    var counts: [HapticEvent.Kind: Int] = [:]
    for index in events.indices {
      counts[events[index].kind, default: 0] += 1
      events[index].ordinal = counts[events[index].kind] ?? 0
    }
    return events
  }
}

extension TransducerProfile {
  /// Returns the frequency of an event's sharpness or pitch, in hertz, or the playback rate of a
  /// sound file.
  ///
  /// - Parameters:
  ///   - value: The sharpness of a haptic event, or the pitch of an audio event.
  ///   - kind: The kind of the event.
  package func hertz(_ value: Double, of kind: HapticEvent.Kind) -> Double {
    if kind.isHaptic {
      return frequencyAndLevel(of: kind).frequency.hertz(atSharpness: value)
    }
    // The renderer's pitch range is one octave on both sides of twice the end of the band.
    return (kind.playsFile ? 1 : 2 * frequency.high) * pow(2, value)
  }
}
