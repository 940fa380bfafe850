import HapticRender
import JSONText

/// Everything there is to say about an array's text, the profiles it names included.
public struct ArrayCheckResult: Sendable {
  /// What a text turned out to be.
  public enum Outcome: Equatable, Sendable {
    /// An array.
    case array(TransducerArray)
    /// No array, for a reason.
    case refused(ProfileError)
  }

  /// What the text turned out to be.
  public var outcome: Outcome
  /// Its faults, in the order of the text; at most 100 of a rule, and one that counts the rest.
  public var findings: [ProfileFinding]

  /// Examines a text, and reads the profiles it names.
  ///
  /// - Parameters:
  ///   - text: UTF-8, at most `ProfileFile.maximumByteCount`.
  ///   - name: What findings call the text, usually the file's path.
  ///   - folder: Where the paths of profiles begin; nothing for the working folder.
  ///   - library: Where the names of profiles are looked up.
  public init(text: [UInt8], name: String, folder: String?, library: ProfileLibrary) {
    let limits = JSONLimits(textBytes: ProfileFile.maximumByteCount, values: 1 << 16, depth: 16)
    let document: JSONDocument
    do {
      document = try JSONDocument(text: text, name: name, limits: limits)
    } catch {
      findings = [ProfileFinding(error)]
      outcome = .refused(ProfileError(findings[0]))
      return
    }
    let root = document.root
    let layout = root["layout"]?.string.flatMap(TransducerArray.Layout.init) ?? .line
    var examiner = ProfileChecker(document, subject: "an array")
    examiner.examine(ArrayKeys.array(layout))
    let transducers = root["transducers"].map { Array($0.elements) } ?? []
    let source = ArrayProfiles(folder: folder, library: library)
    let profiles = transducers.map { examiner.profile(of: $0, from: source) }
    examiner.checkChannels(of: transducers)
    examiner.checkPlaces(of: transducers, layout)
    findings = examiner.log.findings
    if let first = findings.first {
      outcome = .refused(ProfileError(first, otherErrorCount: examiner.log.errorCount - 1))
      return
    }
    outcome = .array(
      TransducerArray(
        name: root["name"]?.string ?? "", layout: layout,
        transducers: zip(transducers, profiles).map {
          TransducerArray.Transducer(known: $0, profile: $1)
        }))
  }

  /// Whether a text is meant to be an array: it is an object that has transducers.
  public static func isArrayText(by text: [UInt8]) -> Bool {
    let limits = JSONLimits(textBytes: ProfileFile.maximumByteCount, values: 1 << 16, depth: 16)
    return (try? JSONDocument(text: text, name: "", limits: limits))?.root["transducers"] != nil
  }

  /// The array, or why the text is none.
  public func array() throws(ProfileError) -> TransducerArray {
    switch outcome {
    case .array(let array): return array
    case .refused(let error): throw error
    }
  }
}

extension TransducerArray.Transducer {
  /// Reads a transducer of a text in which nothing was found wrong.
  init(known value: JSONValue, profile: TransducerProfile) {
    self.init(
      channel: Int(value["channel"]?.number ?? 0),
      position: value["at"].map(ArrayPosition.init) ?? ArrayPosition(0),
      profile: profile, gain: value["gain"]?.number ?? 0, delay: value["delay"]?.number ?? 0,
      isInverted: value["invert"]?.boolean ?? false)
  }
}

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
