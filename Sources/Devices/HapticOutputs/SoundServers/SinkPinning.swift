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
  private static let redirectingPropertyNames = ["target.object", "node.target", "node.linger"]

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
    var environmentVariables = [
      EnvironmentVariable(
        name: "PIPEWIRE_ALSA",
        value: try mergedProperties(
          "PIPEWIRE_ALSA", hasLabels: true, isPinned: namesSink, environment: environment))
    ]
    guard namesSink else { return environmentVariables }
    environmentVariables.append(
      EnvironmentVariable(
        name: "PULSE_PROP", value: try mergedPulseProperties(environment: environment)))
    // These variables outrank PIPEWIRE_ALSA and the name of the device.
    if environment("PIPEWIRE_PROPS") != nil {
      let value = try mergedProperties(
        "PIPEWIRE_PROPS", hasLabels: false, isPinned: true, environment: environment)
      environmentVariables.append(EnvironmentVariable(name: "PIPEWIRE_PROPS", value: value))
    }
    if environment("PIPEWIRE_NODE") != nil {
      environmentVariables.append(EnvironmentVariable(name: "PIPEWIRE_NODE", value: nil))
    }
    return environmentVariables
  }

  /// Returns whether the environment variables that pin the streams of a server are set.
  package static func arePinPropertiesSet(
    for server: NamedSink.Server, environment: (String) -> String?
  )
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
    let threadIDs = try? FileSystem.visibleNames(in: "/proc/self/task")
    guard threadIDs?.count == 1 else { return false }
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
    if !arePinPropertiesSet(for: sink.server, environment: ProcessEnvironment.value(named:)),
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
  static func checkStreamWasPinned(_ sink: NamedSink, since count: Int, device: String)
    throws(OutputError)
  {
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
    let propertyText = environment(name) ?? ""
    guard let propertyBody = PropertyText.propertyListBody(propertyText) else {
      throw OutputError(
        .other, output: name, "unbalanced braces or quotation marks; correct or unset this variable"
      )
    }
    if isPinned,
      let detourPropertyName = redirectingPropertyNames.first(where: {
        propertyBody.containsText($0)
      })
    {
      throw OutputError(
        .other, output: name,
        "'\(detourPropertyName)' contradicts the sink in '--device'; unset this variable")
    }
    let ownProperties =
      hasLabels ? labelProperties.map { "\($0.key) = \"\($0.value)\"" }.joined(separator: " ") : ""
    // Each part has its own lines, because a comment extends to the end of its line.
    var propertyGroups = [ownProperties, propertyBody].filter { !$0.isEmpty }
    if isPinned {
      propertyGroups.append(pipeWireProperties)
    }
    return "{ " + propertyGroups.joined(separator: "\n") + " }"
  }

  // MARK: - PulseAudio

  private static func mergedPulseProperties(environment: (String) -> String?) throws(OutputError)
    -> String
  {
    let propertyText = environment("PULSE_PROP") ?? ""
    guard PropertyText.isPulseList(propertyText) else {
      throw OutputError(
        .other, output: "PULSE_PROP", "is not a list of KEY=VALUE; correct or unset this variable")
    }
    return propertyText.isEmpty ? pulseProperties : propertyText + " " + pulseProperties
  }
}

/// Parses the text formats in which PipeWire and PulseAudio write properties.
enum PropertyText {
  /// Returns the text within the outer braces of a property list in PipeWire's relaxed JSON, or nil
  /// if braces or quotation marks do not match.
  static func propertyListBody(_ text: String) -> String? {
    var openBracketStack: [Character] = []
    var isInString = false
    var isEscaped = false
    var isInComment = false
    var bodyStart: String.Index?
    var bodyEnd: String.Index?
    for index in text.indices {
      let character = text[index]
      if isInComment {
        isInComment = !character.isNewline
        continue
      }
      if isInString {
        isInString = isEscaped || character != "\""
        isEscaped = !isEscaped && character == "\\"
        continue
      }
      if character.isWhitespace { continue }
      if character == "#" {
        isInComment = true
        continue
      }
      // Nothing follows the outer braces.
      if bodyEnd != nil { return nil }
      switch character {
      case "\"":
        isInString = true
      case "{", "[":
        if bodyStart == nil, openBracketStack.isEmpty, isEmpty(text[..<index]) {
          bodyStart = text.index(after: index)
        }
        openBracketStack.append(character)
      case "}", "]":
        guard let open = openBracketStack.popLast(), (open == "{") == (character == "}") else {
          return nil
        }
        if openBracketStack.isEmpty, bodyStart != nil {
          bodyEnd = index
        }
      default:
        break
      }
    }
    guard openBracketStack.isEmpty, !isInString else { return nil }
    guard let bodyStart, let bodyEnd else { return trimmed(text[...]) }
    return trimmed(text[bodyStart..<bodyEnd])
  }

  /// Returns whether a text has the form of PulseAudio's property lists, such as `media.role=test
  /// application.name="My program"`.
  static func isPulseList(_ text: String) -> Bool {
    var remainingText = text[...].drop { $0.isWhitespace }
    while !remainingText.isEmpty {
      let key = remainingText.prefix { $0 != "=" && !$0.isWhitespace }
      remainingText = remainingText.dropFirst(key.count).drop { $0.isWhitespace }
      guard !key.isEmpty, remainingText.first == "=" else { return false }
      remainingText = remainingText.dropFirst().drop { $0.isWhitespace }
      guard let mark = remainingText.first, mark == "\"" || mark == "'" else {
        remainingText = remainingText.drop { !$0.isWhitespace }.drop { $0.isWhitespace }
        continue
      }
      guard let end = closingQuotationMark(mark, of: remainingText) else { return false }
      remainingText = remainingText[remainingText.index(after: end)...].drop { $0.isWhitespace }
    }
    return true
  }

  private static func closingQuotationMark(_ mark: Character, of text: Substring) -> String.Index? {
    var isCharacterEscaped = false
    for index in text.indices.dropFirst() {
      if !isCharacterEscaped, text[index] == mark { return index }
      isCharacterEscaped = !isCharacterEscaped && text[index] == "\\"
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
    let leadingTrimmedText = text.drop { $0.isWhitespace }
    return String(leadingTrimmedText.reversed().drop { $0.isWhitespace }.reversed())
  }
}
