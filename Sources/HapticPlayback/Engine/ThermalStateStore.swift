internal import HapticRender

/// How warm transducers were when they were last driven, for whatever drives them next in this process.
///
/// A transducer is known by its profile and its channel. Those of other processes are not known.
final class ThermalStateStore: Sendable {
  /// The memory of this process.
  static let shared = ThermalStateStore()

  private struct Entry {
    var profile: TransducerProfile
    var channel: Int
    var temperatureRise: TransducerThermalState
    var moment: Duration
  }

  private let entries = Locked<[Entry]>([])

  /// Keeps how warm the transducers of a routing are at a moment.
  func keep(_ temperatureRise: [TransducerThermalState], of routing: OutputRouting, at moment: Duration) {
    entries.withLock { entries in
      for (channel, (route, temperatureRise)) in zip(routing.channels, temperatureRise).enumerated() {
        guard let profile = route.transducer else { continue }
        entries.removeAll { $0.channel == channel && $0.profile == profile }
        entries.append(Entry(profile: profile, channel: channel, temperatureRise: temperatureRise, moment: moment))
      }
    }
  }

  /// How warm the transducers of a routing still are at a moment.
  func temperatureRise(of routing: OutputRouting, at moment: Duration) -> [TransducerThermalState] {
    entries.withLock { entries in
      routing.channels.enumerated().map { channel, route in
        guard let profile = route.transducer,
          let entry = entries.first(where: { $0.channel == channel && $0.profile == profile })
        else { return TransducerThermalState() }
        let seconds = max(0, (moment - entry.moment) / .seconds(1))
        let thermal = profile.hardware?.thermal ?? ThermalParameters()
        return entry.temperatureRise.cooled(for: seconds, by: thermal)
      }
    }
  }
}
