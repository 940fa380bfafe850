package import HapticPlayback

/// A sound server's sink that a device name specifies, such as `pipewire:shaker` or
/// `pulse:DEVICE=shaker`.
package struct NamedSink: Equatable, Sendable {
  /// The sound servers whose ALSA plug-ins accept the name of a sink.
  package enum Server: String, CaseIterable, Sendable {
    case pipeWire = "PipeWire"
    case pulseAudio = "PulseAudio"

    /// The name of the plug-in in ALSA's configuration.
    fileprivate var plugInName: String {
      switch self {
      case .pipeWire: "pipewire"
      case .pulseAudio: "pulse"
      }
    }

    /// The names of the plug-in's arguments in the order of ALSA's configuration, of which the last
    /// is the name of the sink.
    fileprivate var plugInArgumentNames: [String] {
      switch self {
      case .pipeWire: ["SERVER", "NODE"]
      case .pulseAudio: ["DEVICE"]
      }
    }

    /// Returns the name of the device that plays on a sink.
    package func deviceName(_ sink: String) -> String {
      self == .pipeWire ? "\(plugInName):\(sink)" : plugInDeviceName(sink)
    }

    /// Returns the name of the ALSA device that plays on a sink through the server's plug-in.
    func plugInDeviceName(_ sink: String) -> String {
      "\(plugInName):\(plugInArgumentNames.last ?? "")=\(sink)"
    }
  }

  package let server: Server
  /// The name of the sink: the `node.name` of PipeWire.
  package let sinkName: String
  /// The name of the PipeWire server; nil for the user's own server.
  package let remoteServerName: String?
  /// The device name as the user entered it.
  private let deviceName: String

  /// The name of the ALSA device that plays on the sink through the server's plug-in.
  var plugInDeviceName: String {
    remoteServerName == nil ? server.plugInDeviceName(sinkName) : deviceName
  }

  /// Parses a device name. The result is nil if the device follows the server's default sink or
  /// belongs to no sound server.
  package init?(device: String) {
    if let plainSinkName = Self.sinkNameWithoutArguments(in: device) {
      server = .pipeWire
      self.sinkName = plainSinkName
      self.deviceName = device
      remoteServerName = nil
      return
    }
    for server in Server.allCases {
      guard let words = Self.plugInArguments(of: server.plugInName, in: device) else { continue }
      var values: [String: String] = [:]
      for (index, word) in words.enumerated() {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2 {
          values[String(parts[0])] = Self.unquoted(parts[1])
        } else if index < server.plugInArgumentNames.count {
          values[server.plugInArgumentNames[index]] = Self.unquoted(parts[0])
        }
      }
      guard let key = server.plugInArgumentNames.last, let sink = values[key] else { continue }
      self.server = server
      self.sinkName = sink
      self.deviceName = device
      remoteServerName = values["SERVER"].flatMap { $0.isEmpty ? nil : $0 }
      return
    }
    return nil
  }

  /// Throws an error for a name that a server would not interpret as the name of a sink. PipeWire
  /// plays on any sink for `-1`, and on the object with a given number. PulseAudio plays on its
  /// default sink for an empty name.
  package func validateSinkName() throws(OutputError) {
    guard !sinkName.isEmpty, Int(sinkName) == nil else {
      throw OutputError(
        .invalidName, output: deviceName,
        "a \(server.rawValue) sink has a name, "
          + "not \(sinkName.isEmpty ? "an empty one" : "a number"); "
          + "run 'temblor devices' to list sinks")
    }
    guard !sinkName.contains(where: { "{}\"'".contains($0) }) else {
      throw OutputError(
        .invalidName, output: deviceName,
        "cannot read the sink's name; use '\(server.deviceName("NAME"))'")
    }
  }

  /// Finds the sink on its server.
  ///
  /// - Throws: `notFound` with the names of the sinks that exist, or `serverUnavailable`.
  @discardableResult package func findSink(on servers: SoundServers) throws(OutputError)
    -> SoundServers.Sink
  {
    try validateSinkName()
    let serverSinks: [SoundServers.Sink]
    switch server {
    case .pipeWire:
      serverSinks = try servers.pipeWireSinks(remoteServerName).valueOrOutputError(for: deviceName)
    case .pulseAudio:
      serverSinks = try servers.pulseAudio(true).valueOrOutputError(for: deviceName).sinks
    }
    return try findSink(among: serverSinks)
  }

  /// Finds the sink in a list of the server's sinks.
  ///
  /// - Throws: `notFound` with the names of the sinks that exist.
  func findSink(among sinks: [SoundServers.Sink]) throws(OutputError) -> SoundServers.Sink {
    let matchingSinks = sinks.filter { $0.name == sinkName }
    if matchingSinks.count == 1 { return matchingSinks[0] }
    guard matchingSinks.isEmpty else {
      throw OutputError(
        .other, output: deviceName,
        "\(matchingSinks.count) sinks have this name; "
          + "set a unique 'node.name' for each sink in PipeWire"
      )
    }
    let sinkNames = sinks.map(\.name).sorted()
    throw OutputError(
      .notFound, output: deviceName,
      "no such \(server.rawValue) sink; "
        + (sinkNames.isEmpty
          ? "the server has no sinks" : "available: \(sinkNames.joined(separator: ", "))"),
      alternativeNames: sinkNames)
  }

  /// Returns the sink name in a device name of the form `pipewire:NAME`, or nil if the name has
  /// plug-in arguments instead.
  private static func sinkNameWithoutArguments(in device: String) -> String? {
    let schemePrefix = PipeWireBackend.scheme + ":"
    guard device.hasPrefix(schemePrefix) else { return nil }
    let sinkName = String(device.dropFirst(schemePrefix.count))
    return sinkName.contains { ",={}\"'".contains($0) } ? nil : sinkName
  }

  /// Returns the arguments of a plug-in in a device name, or nil if the name does not contain the
  /// plug-in. The plug-in may be the slave of another plug-in.
  private static func plugInArguments(of plugIn: String, in device: String) -> [String]? {
    let plugInPrefix = plugIn + ":"
    let plugInStart = device.indices.first {
      device[$0...].hasPrefix(plugInPrefix) && isWordStart($0, in: device)
    }
    guard let plugInStart else { return nil }
    let argumentText = device[plugInStart...].dropFirst(plugInPrefix.count)
    // A name within quotation marks ends with them.
    let precedingCharacter = device[..<plugInStart].last
    let isQuoted = precedingCharacter == "'" || precedingCharacter == "\""
    let argumentEnd =
      isQuoted
      ? argumentText.firstIndex { $0 == precedingCharacter } ?? argumentText.endIndex
      : argumentText.endIndex
    let arguments = argumentText[..<argumentEnd].split(
      separator: ",", omittingEmptySubsequences: false)
    return arguments.map(String.init)
  }

  private static func isWordStart(_ index: String.Index, in text: String) -> Bool {
    guard index > text.startIndex else { return true }
    return ":'\"=,".contains(text[text.index(before: index)])
  }

  private static func unquoted(_ text: Substring) -> String {
    guard text.count >= 2, let quotationMark = text.first, quotationMark == text.last,
      quotationMark == "'" || quotationMark == "\""
    else {
      return String(text)
    }
    return String(text.dropFirst().dropLast())
  }
}

extension Result where Failure == SoundServers.QueryProblem {
  /// Returns the value of a successful server query, or throws its problem as an error that names
  /// the device.
  func valueOrOutputError(for device: String) throws(OutputError) -> Success {
    switch self {
    case .success(let value): return value
    case .failure(let serverProblem): throw serverProblem.error(for: device)
    }
  }
}
