public import Reading
import HapticRender

/// Everything there is to say about an array's text, the profiles it names included.
public struct ArrayCheckResult: Sendable {
  /// The array, or why the text is refused.
  public var outcome: Result<TransducerArray, InputError>
  /// Its faults, in the order of the text; at most 100 of a rule, and one that counts the rest.
  public var findings: [Finding] = []

  /// Checks a text, and reads the profiles it names.
  ///
  /// - Parameters:
  ///   - text: UTF-8, at most `ProfileFile.maximumByteCount`.
  ///   - name: What findings call the text, usually the file's path.
  ///   - folder: Where the paths of profiles begin; nothing for the working folder.
  ///   - library: Where the names of profiles are looked up.
  public init(text: [UInt8], name: String, folder: String?, library: ProfileLibrary) {
    do throws(InputError) {
      let document = try ProfileFile.document(text, name: name)
      let root = document.root
      let layout = root["layout"]?.string.flatMap(TransducerArray.Layout.init) ?? .line
      var checker = ProfileChecker(document, source: library.profiles(besideFilesOf: folder))
      var array = TransducerArray(name: "", transducers: [])
      checker.read(ArrayKeys.array(layout), into: &array)
      let transducers = root["transducers"].map { Array($0.elements) } ?? []
      checker.checkChannels(of: transducers)
      checker.checkPlaces(of: transducers, layout)
      findings = checker.findings
      if let error = checker.refusal { throw error }
      outcome = .success(array)
    } catch {
      if findings.isEmpty { findings = [error.finding] }
      outcome = .failure(error)
    }
  }

  /// Whether a text is meant to be an array: it is an object that has transducers.
  public static func isArrayText(by text: [UInt8]) -> Bool {
    (try? ProfileFile.document(text, name: ""))?.root["transducers"] != nil
  }
}

extension TransducerArray.Layout: JSONWord {}

extension ArrayPosition {
  /// Reads a number, or `{ "x", "y" }`.
  init(_ value: JSONValue) {
    if let number = value.number {
      self.init(number)
    } else {
      self.init(value["x"]?.number ?? .nan, value["y"]?.number ?? .nan)
    }
  }
}

/// The keys of an array's text.
enum ArrayKeys {
  /// The delays of a transducer, in seconds.
  static let delay = 0.0...1.0
  /// The gains of a transducer, in decibels.
  static let gain = -120.0...24.0

  /// The whole text of an array that lies in some way.
  static func array(_ layout: TransducerArray.Layout) -> ProfileTable<TransducerArray> {
    ProfileTable(
      "an array",
      [
        .value("name", .text(), is: .required, "Display name of the array.") { $1(&$0.name) },
        .word("layout", is: .optional, "Arrangement of the transducers.") { $1(&$0.layout) },
        .list(
          "transducers", of: transducer(layout), count: 1...OutputRouting.maximumChannelCount,
          new: TransducerArray.Transducer(channel: 0, position: ArrayPosition(0)), is: .required,
          "The transducers, one for each channel that has one."
        ) { $1(&$0.transducers) },
        .ignored(ProfileKeys.schemaKey, .text(), "Schema reference for editors; ignored by Temblor."),
      ])
  }

  private static func transducer(_ layout: TransducerArray.Layout) -> ProfileTable<TransducerArray.Transducer> {
    let profile = JSONKey(
      "profile", .text(), "Profile name, or a file in the folder of the array file. Default: phone.")
    return ProfileTable(
      "an entry",
      [
        .value(
          "channel", .integer(1...OutputRouting.maximumChannelCount), is: .required, "The channel, numbered from 1."
        ) { $1(&$0.channel) }, place(layout),
        ProfileField(profile) { value, transducer, reader in
          guard let word: String = reader.scalar(value, profile) else { return false }
          transducer.profile = reader.profile(word, at: value)
          return true
        }, .value("gain", .number(gain), default: 0, "Decibels.") { $1(&$0.gain) },
        .value("delay", .number(delay), default: 0, "Seconds.") { $1(&$0.delay) },
        .value("invert", .boolean, "Whether the polarity is inverted. Default: false.") { $1(&$0.isInverted) },
        .value("source", .text(), "Place of patterns that is felt here, by its number or its name. Default: all.") {
          var source = $0.source ?? ""
          $1(&source)
          $0.source = source.isEmpty ? nil : source
        },
      ])
  }

  private static func place(_ layout: TransducerArray.Layout) -> ProfileField<TransducerArray.Transducer> {
    let meaning = "Position of the transducer."
    switch layout {
    case .line: return .value("at", .number(-1e6...1e6), is: .required, meaning) { $1(&$0.position.x) }
    case .ring: return .value("at", .number(0...TransducerArray.turn), is: .required, meaning) { $1(&$0.position.x) }
    case .plane: return .object("at", plane, is: .required, meaning) { $1(&$0.position) }
    }
  }

  private static let plane = ProfileTable<ArrayPosition>(
    "an object",
    [
      .value("x", .number(-1e3...1e3), is: .required, "Metres.") { $1(&$0.x) },
      .value("y", .number(-1e3...1e3), is: .required, "Metres.") { $1(&$0.y) },
    ])
}

extension ProfileChecker {
  /// The profile of a transducer; one that cannot be had is a fault.
  mutating func profile(_ word: String, at value: JSONValue) -> TransducerProfile {
    guard let source else { return .phone }
    do { return try source(word) } catch {
      log.add(.invalidValue, at: value, error.reason, hint: error.hint)
      return .phone
    }
  }

  /// No channel drives two transducers.
  mutating func checkChannels(of transducers: [JSONValue]) {
    var seen: Set<Double> = []
    for transducer in transducers {
      guard let value = transducer["channel"], let number = value.number else { continue }
      guard !seen.insert(number).inserted else { continue }
      log.add(
        .contradiction, at: value, "channel \(number.shortText) is used twice",
        hint: "give each transducer a channel of its own")
    }
  }

  /// No two transducers are at one place, between which nothing could lie.
  mutating func checkPlaces(of transducers: [JSONValue], _ layout: TransducerArray.Layout) {
    let array = TransducerArray(name: "", layout: layout, transducers: [])
    var seen: [ArrayPosition] = []
    for transducer in transducers {
      guard let value = transducer["at"] else { continue }
      let place = ArrayPosition(value)
      guard place.x.isFinite, place.y.isFinite else { continue }
      if seen.contains(where: { array.distance($0, place) < TransducerArray.samePlace }) {
        log.add(
          .contradiction, at: value, "another transducer has the same position",
          hint: "give each transducer its own position")
      }
      seen.append(place)
    }
  }
}

extension ProfileLibrary {
  /// The profiles that a text names: those of the library, or files beside the text's own.
  ///
  /// - Parameter folder: Where relative paths begin; nothing for the working folder.
  func profiles(besideFilesOf folder: String?) -> ProfileChecker.Source {
    { (word) throws(ProfileChecker.Refusal) in
      func unusable(_ reason: String) -> ProfileChecker.Refusal {
        .init(reason: "\(word.quoted()) cannot be used: \(reason.onOneLine)")
      }
      var entry = entry(named: word)
      if ProfileFile.isPath(word) {
        let path = folder?.isEmpty == false ? "\(folder ?? "")/\(word)" : word
        guard ProfileFolder.contains(path, word, in: folder ?? "") else {
          throw .init(
            reason: "\(word.quoted()) is outside the folder of the array",
            hint: "put the profile beside the array, or among your profiles and name it")
        }
        entry = ProfileEntry(name: word, origin: .user, path: path)
      }
      guard let entry else { throw missing(word) }
      let text: [UInt8]
      do throws(ProfileFileError) { text = try entry.text() } catch { throw unusable(error.description) }
      do throws(InputError) { return try ProfileFile.read(text: text, name: entry.textName) } catch {
        throw unusable(error.description)
      }
    }
  }

  private func missing(_ word: String) -> ProfileChecker.Refusal {
    let nearest = JSONNames(entries().map { $0.name }).nearest(to: word)
    return .init(
      reason: "no profile is called \(word.quoted())",
      hint: nearest.map { "did you mean \"\($0)\"?" } ?? "'temblor profiles' lists them")
  }
}
