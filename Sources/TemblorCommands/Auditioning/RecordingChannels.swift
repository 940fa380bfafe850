import HapticModel
import HapticRender
import SignalAnalysis
import SoundFile

/// Where the channels of a recording are heard: on the outputs that carry haptics, in turn.
///
/// A recording with more channels than there are such outputs is heard as their mean on all of them. Where no
/// output carries haptics, it is heard as audio.
struct RecordingChannels {
  private let places: [Int]
  private let hapticChannelCount: Int

  init(_ routing: OutputRouting) {
    let buses = routing.channels.compactMap(\.hapticBus)
    hapticChannelCount = buses.count
    places = (0..<routing.hapticBusCount).map { buses.firstIndex(of: $0) ?? 0 }
  }

  var count: Int { max(1, hapticChannelCount) }

  /// Gives outputs buses of their own as far as recordings of some channels need it; profiles stay.
  static func separated(_ routing: OutputRouting, _ profiles: [TransducerProfile], for channelCounts: [Int]) -> (
    routing: OutputRouting, profiles: [TransducerProfile]
  ) {
    let total = routing.channels.count { $0.hapticBus != nil }
    let counts = channelCounts.filter { $0 <= total }
    var keys: [[Int]] = []
    var routing = routing
    var newProfiles: [TransducerProfile] = []
    var place = 0
    for index in routing.channels.indices {
      guard let bus = routing.channels[index].hapticBus else { continue }
      // Outputs that carry the same channel of every recording share a bus.
      let key = [bus] + counts.map { place % $0 }
      place += 1
      let number = keys.firstIndex(of: key) ?? keys.count
      if number == keys.count {
        keys.append(key)
        newProfiles.append(bus < profiles.count ? profiles[bus] : profiles[0])
      }
      routing.channels[index].hapticBus = number
    }
    return (routing, newProfiles.isEmpty ? profiles : newProfiles)
  }

  func plans(of sound: Sound) throws -> [RenderPlan] {
    guard hapticChannelCount > 0 else { return try places.map { _ in try audioPlan(of: sound) } }
    var made: [Int: RenderPlan] = [:]
    return try places.map { place in
      let channel = sound.channelCount <= hapticChannelCount ? place % sound.channelCount : -1
      if let plan = made[channel] { return plan }
      let samples = channel < 0 ? sound.mean : sound.channel(channel)
      let plan = try RenderPlan(recording: AudioBuffer(interleaved: samples, channelCount: 1), rate: sound.rate)
      made[channel] = plan
      return plan
    }
  }

  func signal(of sound: Sound, channelCount: Int) -> Signal {
    let channels = (0..<channelCount).map { place in
      sound.channelCount <= count ? sound.channel(place % sound.channelCount) : sound.mean
    }
    return Signal(channels: channels, rate: sound.rate)
  }

  private func audioPlan(of sound: Sound) throws -> RenderPlan {
    let path = "recording"
    let event = HapticEvent(kind: .audioCustom, time: 0, waveform: AudioWaveform(path: path, usesVolumeEnvelope: false))
    return try RenderPlan(
      compiling: HapticPattern(events: [event]), rate: sound.rate,
      samples: [path: AudioBuffer(interleaved: sound.interleaved, channelCount: sound.channelCount)])
  }
}

extension Sound {
  fileprivate func channel(_ index: Int) -> [Float] { (0..<frameCount).map { interleaved[$0 * channelCount + index] } }

  fileprivate var mean: [Float] {
    let share = 1 / Float(channelCount)
    return (0..<frameCount).map { frame in
      (0..<channelCount).reduce(0) { $0 + interleaved[frame * channelCount + $1] } * share
    }
  }
}
