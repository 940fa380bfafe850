import CommandLineKit
import HapticModel
import HapticOutputs
import HapticPlayback
import HapticRender
import PatternWorkflows
import ShippedFiles
import SystemSupport

/// The command `patterns`, which lists or prints the shipped patterns.
enum PatternsCommand {
  static let definition = Command(
    "patterns", abstract: "List the shipped patterns, or print one.",
    arguments: [nameArgument],
    options: [namesOption, SharedOptions.jsonOption, SharedOptions.csvOption],
    examples: [
      .init("temblor patterns", "List the patterns."),
      .init("temblor patterns heartbeat > mine.ahap", "Save a copy of a shipped pattern."),
    ]
  ) { arguments, terminal in try run(Options(arguments), terminal) }

  private static let nameArgument = Argument(
    "NAME", help: "Name of a shipped pattern to print as AHAP text.",
    completion: Completion(candidateCommand: "patterns --names"), isOptional: true
  ).optionalText()
  private static let namesOption = Option(
    "--names", help: "Print only the names, one per line."
  ).flag()

  struct Options {
    let name: String?
    let printsNames: Bool
    let format: ResultFormat

    init(_ arguments: ParsedArguments) throws(UsageError) {
      try SharedOptions.refuseCombination("--json", "--csv", in: arguments)
      name = arguments[nameArgument]
      printsNames = try arguments[namesOption]
      format = try ResultFormat(arguments)
    }
  }

  static func run(_ options: Options, _ terminal: Terminal) throws -> ExitStatus {
    if let name = options.name {
      guard let text = ShippedPatterns.text(named: name) else {
        let question = Suggestion.didYouMeanText(for: name, among: ShippedPatterns.names)
        throw FileError(name, "no shipped pattern has this name\(question)")
      }
      try terminal.output.write(text.span)
      return .success
    }
    if options.printsNames {
      try terminal.output.write(ShippedPatterns.names.map { $0 + "\n" }.joined())
      return .success
    }
    let patternRows = try ShippedPatterns.names.map { name in
      let (plan, pattern) = try RenderJob().loadPlan(
        PatternInput(origin: .shipped(name), outputStem: name))
      return (name: name, duration: plan.durationSeconds, notes: pattern.composition.notes ?? "")
    }
    let patternFields = patternRows.map { row -> JSONObject in
      ["name": row.name, "duration": row.duration, "description": row.notes]
    }
    let tableRows = patternRows.map { row in
      let length = NumberFormatting.secondsText(row.duration)
      let padding = String(repeating: " ", count: max(0, 7 - length.count))
      return [row.name, padding + length, row.notes]
    }
    try terminal.output.write(
      options.format, json: ["patterns": patternFields], csv: patternFields,
      text: TextTable.text(ofRows: tableRows))
    return .success
  }
}

/// An output of a sound card, opened through ALSA's `plughw` conversion, which accepts any sample
/// format.
struct SoundCard: Equatable {
  private static let conversionDevicePrefix = "plughw:"

  let cardName: String
  /// The value of `--device` for the card. The first output of a card needs no number.
  let deviceName: String
  /// The name that opens the card without conversion, with only the channels of the hardware.
  let hardwareDeviceName: String

  /// Creates the sound card output of a listing. The result is nil for another kind of device, and
  /// for an additional name of the same output.
  init?(_ listing: OutputListing) {
    guard listing.name.hasPrefix(Self.conversionDevicePrefix), listing.name.containsText("CARD=")
    else {
      return nil
    }
    let firstDeviceSuffix = ",DEV=0"
    deviceName =
      (listing.name.hasSuffix(firstDeviceSuffix)
      ? String(listing.name.dropLast(firstDeviceSuffix.count)) : listing.name)
      .printable
    hardwareDeviceName = String(listing.name.dropFirst(4))
    // After the last comma, ALSA describes the conversion.
    let cardNameEnd = listing.description.lastIndex(of: ",") ?? listing.description.endIndex
    cardName = listing.description[..<cardNameEnd].description.printable
  }
}

/// The command `devices`, which lists output devices.
enum DevicesCommand {
  static let definition = Command(
    "devices", abstract: "List output devices.",
    discussion: """
      Temblor opens each device briefly to query its capabilities. Temblor plays nothing and skips \
      busy devices. A device that does not respond within two seconds is listed as unresponsive. \
      The first device is the default. The list also includes the sinks of PipeWire and \
      PulseAudio, and the sources of PipeWire. Each sink is listed with the option that selects \
      the sink, and each source with the option of 'temblor follow' that records the source.
      """,
    options: [namesOption, SharedOptions.jsonOption],
    examples: [.init("temblor devices", "List the devices.")]
  ) { arguments, terminal in try run(Options(arguments), terminal) }

  private static let namesOption = Option(
    "--names", help: "Print only the names, one per line, without opening devices."
  ).flag()

  struct Options {
    let printsNames: Bool
    let printsJSON: Bool

    init(_ arguments: ParsedArguments) throws(UsageError) {
      printsNames = try arguments[namesOption]
      printsJSON = try arguments[SharedOptions.jsonOption]
    }
  }

  static func run(_ options: Options, _ terminal: Terminal) throws -> ExitStatus {
    guard !options.printsNames else {
      let names = OutputRegistry.standard.outputs(probing: false).map(\.name)
      try terminal.output.write(names.map { $0.printable + "\n" }.joined())
      return .success
    }
    guard !options.printsJSON else {
      let sources = SoundServers.system.sourceListings.map { source -> JSONObject in
        ["name": source.name, "description": source.description]
      }
      try terminal.output.writeJSON([
        "devices": OutputRegistry.standard.outputs().map(jsonFields), "sources": sources,
      ])
      return .success
    }
    var devices: [OutputListing] = []
    try OutputRegistry.standard.probeOutputs { device in
      try terminal.output.write(listText([device], for: terminal.output))
      devices.append(device)
    }
    try terminal.output.write("\n" + playCommandAdvice(devices))
    try terminal.output.write(sourceAdvice(SoundServers.system.sourceListings))
    return .success
  }

  /// Returns help text that lists the `--device` option for each sound card.
  static func playCommandAdvice(_ devices: [OutputListing]) -> String {
    let cardRows = devices.compactMap(SoundCard.init).map {
      ["  --device \($0.deviceName)", $0.cardName]
    }
    let sinkListings = devices.filter { NamedSink(device: $0.name) != nil }
    let deviceRows =
      cardRows + sinkListings.map { ["  --device \($0.name.printable)", $0.description.printable] }
    guard !deviceRows.isEmpty else {
      return "No sound card found. Connect a sound card, or write a file with --device wav:FILE.\n"
    }
    let sinkNoun = cardRows.isEmpty ? "a sink" : "a card or a sink"
    let outputNoun = sinkListings.isEmpty ? "a card" : sinkNoun
    return "To play on \(outputNoun), use its option, or save it with 'temblor setup':\n"
      + TextTable.text(ofRows: deviceRows)
  }

  /// Returns help text that lists the `--source` option for each recording source; empty without
  /// sources.
  static func sourceAdvice(_ sources: [OutputListing]) -> String {
    guard !sources.isEmpty else { return "" }
    let sourceRows = sources.map { ["  --source \($0.name.printable)", $0.description.printable] }
    return "\nTo follow a source with 'temblor follow', use its option:\n"
      + TextTable.text(ofRows: sourceRows)
  }

  static func listText(_ devices: [OutputListing], for output: Output) -> String {
    var listing = ""
    for device in devices {
      listing += output.styled(device.name.printable, .bold)
      listing += device.description.isEmpty ? "\n" : "  \(device.description.printable)\n"
      if let abilities = device.capabilities {
        listing += "    \(capabilityText(abilities))\n"
      } else if device.probeError?.kind == .busy {
        listing += "    " + output.styled("busy: in use by another program", .yellow) + "\n"
      } else if let problem = device.probeError {
        // A name means only that the configuration defines it, not that the device exists.
        let reason =
          problem.kind == .notFound ? "not available" : "cannot be opened: \(problem.description)"
        listing += "    " + output.styled(reason, .dim) + "\n"
      }
    }
    return listing
  }

  /// The maximum period size that is listed, in frames. Devices with a larger maximum are listed
  /// with periods of any length.
  private static let maximumListedPeriodFrameCount = 1 << 24

  /// Returns a line such as `2 channels; 44100, 48000 Hz; s16; periods of 32 to 4096 frames;
  /// hardware`.
  private static func capabilityText(_ abilities: OutputListing.Capabilities) -> String {
    let channelCountsText = rangeText(abilities.channelCounts)
    let periods = abilities.periodSizes
    return [
      "\(channelCountsText) channel\(channelCountsText == "1" ? "" : "s")",
      abilities.rates.map(String.init).joined(separator: ", ") + " Hz",
      abilities.encodings.joined(separator: ", "),
      periods.upperBound > maximumListedPeriodFrameCount
        ? "periods of any length"
        : "periods of \(periods.lowerBound) to \(periods.upperBound) frames",
    ].joined(separator: "; ") + (abilities.isHardware ? "; hardware" : "")
  }

  /// Returns numbers with consecutive numbers combined: `1, 2, 4–8`.
  static func rangeText(_ numbers: [Int]) -> String {
    var consecutiveRanges: [ClosedRange<Int>] = []
    for number in numbers {
      if let last = consecutiveRanges.last, last.upperBound + 1 == number {
        consecutiveRanges[consecutiveRanges.count - 1] = last.lowerBound...number
      } else {
        consecutiveRanges.append(number...number)
      }
    }
    return consecutiveRanges.map { run in
      switch run.count {
      case 1: "\(run.lowerBound)"
      case 2: "\(run.lowerBound), \(run.upperBound)"
      default: "\(run.lowerBound)–\(run.upperBound)"
      }
    }.joined(separator: ", ")
  }

  private static func jsonFields(_ device: OutputListing) -> JSONObject {
    let capabilityFields: JSONObject? = device.capabilities.map {
      [
        "rates": $0.rates, "channels": $0.channelCounts, "formats": $0.encodings,
        "minPeriodSize": $0.periodSizes.lowerBound, "maxPeriodSize": $0.periodSizes.upperBound,
        "hardware": $0.isHardware,
      ]
    }
    return [
      "name": device.name, "description": device.description,
      "busy": device.probeError?.kind == .busy,
    ] + capabilityFields
      + ["problem": device.probeError?.description]
  }
}
