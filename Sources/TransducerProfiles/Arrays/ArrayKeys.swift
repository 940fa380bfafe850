import HapticRender
import JSONText

/// The keys of an array's text.
enum ArrayKeys {
  /// The delays of a transducer, in seconds.
  static let delay = 0.0...1.0
  /// The gains of a transducer, in decibels.
  static let gain = -120.0...24.0

  /// The whole text of an array that lies in some way.
  static func array(_ layout: TransducerArray.Layout) -> ProfileFields {
    ProfileFields(keys: [
      ProfileKey("name", .text, presence: .required, "Display name of the array."),
      ProfileKey(
        "layout", .word(TransducerArray.Layout.allCases.map(\.rawValue)),
        "Arrangement of the transducers."),
      ProfileKey(
        "transducers",
        .list(.object(transducer(layout)), count: 1...OutputRouting.maximumChannelCount),
        presence: .required, "The transducers, one for each channel that has one."),
      ProfileKey(ProfileKeys.schemaKey, .text, "Schema reference for editors; ignored by Temblor."),
    ])
  }

  private static func transducer(_ layout: TransducerArray.Layout) -> ProfileFields {
    ProfileFields(keys: [
      ProfileKey(
        "channel", .whole(1...OutputRouting.maximumChannelCount), presence: .required,
        "The channel, numbered from 1."),
      ProfileKey("at", place(layout), presence: .required, "Position of the transducer."),
      ProfileKey(
        "profile", .text, "Profile name, or a file relative to the array file. Default: phone."),
      ProfileKey("gain", .number(gain), default: 0, "Decibels."),
      ProfileKey("delay", .number(delay), default: 0, "Seconds."),
      ProfileKey("invert", .boolean, "Whether the polarity is inverted. Default: false."),
    ])
  }

  private static func place(_ layout: TransducerArray.Layout) -> ProfileValueType {
    switch layout {
    case .line: .number(-1e6...1e6)
    case .ring: .number(0...TransducerArray.turn)
    case .plane:
      .object(
        ProfileFields(keys: [
          ProfileKey("x", .number(-1e3...1e3), presence: .required, "Metres."),
          ProfileKey("y", .number(-1e3...1e3), presence: .required, "Metres."),
        ]))
    }
  }
}
