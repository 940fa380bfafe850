internal import CSoundServers
internal import Glibc
internal import SystemSupport
package import HapticPlayback

/// Keeps the streams of this process on their named sinks: if a server cannot find the sink, or
/// loses it, the server ends the stream instead of moving it to another sink.
///
/// PipeWire and `pipewire-pulse` read the properties of streams from variables of the environment.
/// Two properties do the same in different versions of WirePlumber: `node.dont-reconnect` before
/// 0.5, `node.dont-fallback` from 0.5 on.
/// `node.dont-move` refuses a move by the user's mixer, and `state.restore-target` a move that a
/// mixer remembers. PulseAudio reads a flag of the stream, which `pa_stream_connect_playback` of
/// the module CSoundServers adds.
package enum SinkPinning {
  /// An environment variable and its new value, or nil to remove the variable.
  package struct EnvironmentVariable: Equatable, Sendable {
    package var name: String
    package var value: String?
  }

  /// The stream properties that keep a stream on its sink.
  private static let pinProperties = [
    "node.dont-reconnect": "true", "node.dont-fallback": "true", "node.dont-move": "true",
    "state.restore-target": "false",
  ].sorted { $0.key < $1.key }

  /// The stream properties with the names that the desktop's mixer shows.
  private static let labelProperties = [
    "application.name": "Temblor", "media.name": "Haptics", "node.description": "Temblor",
    "node.name": "temblor",
  ].sorted { $0.key < $1.key }

  /// The stream properties that would direct a stream to a sink other than the sink that the device
  /// names.
  private static let detourPropertyNames = ["target.object", "node.target", "node.linger"]

  private static var pipeWireProperties: String {
    pinProperties.map { "\($0.key) = \($0.value)" }.joined(separator: " ")
  }
  private static var pulseProperties: String {
    pinProperties.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
  }

  /// Returns the environment variables to set for this process, merged with the values that the
  /// user has set.
  ///
  /// - Parameters:
  ///   - namesSink: A Boolean value that indicates whether a stream names its sink.
  ///   - environment: Returns the value of a variable.
  /// - Throws: `other` if a variable of the user's cannot be merged.
  package static func environmentVariables(namesSink: Bool, environment: (String) -> String?)
    throws(OutputError) -> [EnvironmentVariable]
  {
    var variables = [
      EnvironmentVariable(
        name: "PIPEWIRE_ALSA",
        value: try mergedProperties(
          "PIPEWIRE_ALSA", hasLabels: true, isPinned: namesSink, environment: environment))
    ]
    guard namesSink else { return variables }
    variables.append(
      EnvironmentVariable(
        name: "PULSE_PROP", value: try mergedPulseProperties(environment: environment)))
    // These variables outrank PIPEWIRE_ALSA and the name of the device.
    if environment("PIPEWIRE_PROPS") != nil {
      let value = try mergedProperties(
        "PIPEWIRE_PROPS", hasLabels: false, isPinned: true, environment: environment)
      variables.append(EnvironmentVariable(name: "PIPEWIRE_PROPS", value: value))
    }
    if environment("PIPEWIRE_NODE") != nil {
      variables.append(EnvironmentVariable(name: "PIPEWIRE_NODE", value: nil))
    }
    return variables
  }

  /// Returns whether the environment variables that pin the streams of a server are set.
  package static func arePinsSet(for server: NamedSink.Server, environment: (String) -> String?)
    -> Bool
  {
    switch server {
    case .pipeWire:
      environment("PIPEWIRE_ALSA")?.hasSuffix("\(pipeWireProperties) }") == true
        && environment("PIPEWIRE_NODE") == nil
        && environment("PIPEWIRE_PROPS")?.hasSuffix("\(pipeWireProperties) }") != false
    case .pulseAudio:
      environment("PULSE_PROP")?.hasSuffix(pulseProperties) == true
    }
  }

  /// Sets the environment variables that pin the streams of this process.
  ///
  /// Other threads may read the environment at any time, and the C library does not synchronize
  /// that. A process with several threads therefore keeps its environment. Streams of PulseAudio
  /// have their flag in any case.
  ///
  /// - Returns: A Boolean value that indicates whether the variables are set.
  @discardableResult package static func applyVariables(namesSink: Bool) throws(OutputError) -> Bool
  {
    temblor_pin_pulse_streams()
    let threads = try? FileSystem.visibleNames(in: "/proc/self/task")
    guard threads?.count == 1 else { return false }
    for variable in try environmentVariables(
      namesSink: namesSink, environment: ProcessEnvironment.value(named:))
    {
      if let value = variable.value {
        unsafe setenv(variable.name, value, 1)
      } else {
        unsafe unsetenv(variable.name)
      }
    }
    return true
  }

  /// Pins the streams of this process to a sink.
  ///
  /// - Throws: `other` if the variables of the environment cannot be set.
  static func requirePinning(for sink: NamedSink, device: String) throws(OutputError) {
    try sink.validateSinkName()
    temblor_pin_pulse_streams()
    if !arePinsSet(for: sink.server, environment: ProcessEnvironment.value(named:)),
      try !applyVariables(namesSink: true)
    {
      let remedy =
        switch sink.server {
        case .pipeWire: "PIPEWIRE_ALSA='{ \(pipeWireProperties) }'"
        case .pulseAudio: "PULSE_PROP='\(pulseProperties)'"
        }
      throw OutputError(
        .other, output: device,
        """
        cannot keep the stream on its sink because this process has several threads; open the \
        device before they start, or set \(remedy) before the program starts
        """)
    }
    guard sink.server == .pulseAudio, !temblor_pins_pulse_streams() else { return }
    if case .success(let server) = SoundServers.system.pulseAudio(true), server.isPipeWire {
      return
    }
    throw unpinnedStreamError(device)
  }

  /// The number of PulseAudio streams that have been pinned so far.
  static var pinnedStreamCount: Int { Int(temblor_pinned_pulse_stream_count()) }

  /// Throws an error if no PulseAudio stream has been pinned since `pinnedStreamCount` had the
  /// given value.
  static func checkPinned(_ sink: NamedSink, since count: Int, device: String) throws(OutputError) {
    guard sink.server == .pulseAudio, temblor_pins_pulse_streams() else { return }
    if pinnedStreamCount == count { throw unpinnedStreamError(device) }
  }

  private static func unpinnedStreamError(_ device: String) -> OutputError {
    OutputError(
      .other, output: device,
      """
      PulseAudio moves the stream to another sink if this one disappears, and this process cannot \
      prevent it; use the program 'temblor', or a card such as plughw:1
      """)
  }

  // MARK: - PipeWire

  private static func mergedProperties(
    _ name: String, hasLabels: Bool, isPinned: Bool, environment: (String) -> String?
  ) throws(OutputError) -> String {
    let text = environment(name) ?? ""
    guard let body = PropertyText.propertyListBody(text) else {
      throw OutputError(
        .other, output: name, "unbalanced braces or quotation marks; correct or unset this variable"
      )
    }
    if isPinned, let detour = detourPropertyNames.first(where: { body.containsText($0) }) {
      throw OutputError(
        .other, output: name, "'\(detour)' contradicts the sink in '--device'; unset this variable")
    }
    let own =
      hasLabels ? labelProperties.map { "\($0.key) = \"\($0.value)\"" }.joined(separator: " ") : ""
    // Each part has its own lines, because a comment extends to the end of its line.
    var parts = [own, body].filter { !$0.isEmpty }
    if isPinned {
      parts.append(pipeWireProperties)
    }
    return "{ " + parts.joined(separator: "\n") + " }"
  }

  // MARK: - PulseAudio

  private static func mergedPulseProperties(environment: (String) -> String?) throws(OutputError)
    -> String
  {
    let text = environment("PULSE_PROP") ?? ""
    guard PropertyText.isPulseList(text) else {
      throw OutputError(
        .other, output: "PULSE_PROP", "is not a list of KEY=VALUE; correct or unset this variable")
    }
    return text.isEmpty ? pulseProperties : text + " " + pulseProperties
  }
}

/// Parses the text formats in which PipeWire and PulseAudio write properties.
enum PropertyText {
  /// Returns the text within the outer braces of a property list in PipeWire's relaxed JSON, or nil
  /// if braces or quotation marks do not match.
  static func propertyListBody(_ text: String) -> String? {
    var openBrackets: [Character] = []
    var isString = false
    var isEscaped = false
    var isComment = false
    var start: String.Index?
    var end: String.Index?
    for index in text.indices {
      let character = text[index]
      if isComment {
        isComment = !character.isNewline
        continue
      }
      if isString {
        isString = isEscaped || character != "\""
        isEscaped = !isEscaped && character == "\\"
        continue
      }
      if character.isWhitespace { continue }
      if character == "#" {
        isComment = true
        continue
      }
      // Nothing follows the outer braces.
      if end != nil { return nil }
      switch character {
      case "\"":
        isString = true
      case "{", "[":
        if start == nil, openBrackets.isEmpty, isEmpty(text[..<index]) {
          start = text.index(after: index)
        }
        openBrackets.append(character)
      case "}", "]":
        guard let open = openBrackets.popLast(), (open == "{") == (character == "}") else {
          return nil
        }
        if openBrackets.isEmpty, start != nil {
          end = index
        }
      default:
        break
      }
    }
    guard openBrackets.isEmpty, !isString else { return nil }
    guard let start, let end else { return trimmed(text[...]) }
    return trimmed(text[start..<end])
  }

  /// Returns whether a text has the form of PulseAudio's property lists, such as `media.role=test
  /// application.name="My program"`.
  static func isPulseList(_ text: String) -> Bool {
    var rest = text[...].drop { $0.isWhitespace }
    while !rest.isEmpty {
      let key = rest.prefix { $0 != "=" && !$0.isWhitespace }
      rest = rest.dropFirst(key.count).drop { $0.isWhitespace }
      guard !key.isEmpty, rest.first == "=" else { return false }
      rest = rest.dropFirst().drop { $0.isWhitespace }
      guard let mark = rest.first, mark == "\"" || mark == "'" else {
        rest = rest.drop { !$0.isWhitespace }.drop { $0.isWhitespace }
        continue
      }
      guard let end = closingMark(mark, of: rest) else { return false }
      rest = rest[rest.index(after: end)...].drop { $0.isWhitespace }
    }
    return true
  }

  private static func closingMark(_ mark: Character, of text: Substring) -> String.Index? {
    var isEscaped = false
    for index in text.indices.dropFirst() {
      if !isEscaped, text[index] == mark { return index }
      isEscaped = !isEscaped && text[index] == "\\"
    }
    return nil
  }

  /// A Boolean value that indicates whether a text contains only comments and spaces.
  private static func isEmpty(_ text: Substring) -> Bool {
    text.split(whereSeparator: \.isNewline).allSatisfy {
      $0.first { !$0.isWhitespace }.map { $0 == "#" } ?? true
    }
  }

  private static func trimmed(_ text: Substring) -> String {
    let start = text.drop { $0.isWhitespace }
    return String(start.reversed().drop { $0.isWhitespace }.reversed())
  }
}
