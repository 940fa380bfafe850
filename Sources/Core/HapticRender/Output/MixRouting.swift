internal import RealtimeMemory

/// The assignment of channels to distinct output mixes.
///
/// Channels that differ only in delay and polarity share a mix.
struct MixRouting {
  /// The output channels, in interleaving order.
  let channels: [OutputRouting.Channel]
  /// One representative channel for each distinct mix.
  private let distinctChannels: [OutputRouting.Channel]
  /// The index of each channel's mix.
  let mixIndices: [Int]

  /// Assigns each channel to a mix; channels that differ only in delay and polarity share a mix.
  ///
  /// - Parameters:
  ///   - channels: The channels.
  ///   - hasAudio: Whether there is audio. Without audio, channels that differ only in audio share
  ///     a mix.
  init(_ channels: [OutputRouting.Channel], hasAudio: Bool) {
    self.channels = channels.map { channel in
      var channel = channel
      if !hasAudio {
        channel.audioSide = .none
      }
      return channel
    }
    var distinctChannels: [OutputRouting.Channel] = []
    var mixIndices: [Int] = []
    for channel in self.channels {
      let existing = distinctChannels.firstIndex { $0.hasSameMix(as: channel) }
      let mixIndex = existing ?? distinctChannels.count
      if existing == nil {
        distinctChannels.append(channel)
      }
      mixIndices.append(mixIndex)
    }
    self.distinctChannels = distinctChannels
    self.mixIndices = mixIndices
  }

  /// Creates the distinct output mixes, one for each representative channel.
  ///
  /// - Parameters:
  ///   - rate: The sample rate, in hertz.
  ///   - temperatureRises: The temperature rise of each channel's transducer.
  ///   - isRaw: Whether the mixes bypass the limiter and the processing for transducers.
  func outputMixes(
    rate: Double, temperatureRises: [TransducerThermalState], isRaw: Bool
  ) -> FixedBuffer<OutputMix> {
    FixedBuffer(count: distinctChannels.count) { index in
      // Channels with the same mix have transducers with the same temperature.
      let channelIndex = mixIndices.firstIndex(of: index) ?? 0
      let temperatureRise = temperatureRises.dropFirst(channelIndex).first
      return OutputMix(
        distinctChannels[index], rate: rate,
        temperatureRise: temperatureRise ?? TransducerThermalState(), isRaw: isRaw,
        capacity: Renderer.subBlockFrameCount)
    }
  }
}
