internal import HapticFormats
internal import Reading

/// The keys of HE and HarmonyOS files.
enum RichTapKey: String, CaseIterable {
  case metadata = "Metadata"
  case metaData = "MetaData"
  case version = "Version"
  case channelNumber = "ChannelNumber"
  case created = "Created"
  case create = "Create"
  case description = "Description"

  case patternList = "PatternList"
  case channels = "Channels"
  case absoluteTime = "AbsoluteTime"
  case pattern = "Pattern"
  case event = "Event"

  case type = "Type"
  case relativeTime = "RelativeTime"
  case startTime = "StartTime"
  case duration = "Duration"
  case index = "Index"
  case parameters = "Parameters"

  case time = "Time"
  case intensity = "Intensity"
  case frequency = "Frequency"
  case curve = "Curve"

  private static let names = JSONNames(allCases.map(\.rawValue))

  /// The key of a member, or nil for one that no such file has.
  init?(of member: JSONValue) {
    guard let index = Self.names.index(ofKey: member) else { return nil }
    self = Self.allCases[index]
  }
}
