// Reads each AHAP file of an app's bundle with Core Haptics, and prints a line per file. README.md
// describes its use.
import CoreHaptics
import Foundation

/// The lines of all bundled files. They remain between launches, so that a file that crashes the app
/// does so only once.
@MainActor final class CaseRun {
  private let storage = UserDefaults.standard
  private let storageKey = "case-lines"
  private var engine: CHHapticEngine?

  var engineNote: String {
    engine == nil ? "no engine" : "engine"
  }

  var lines: [String: String] {
    get { storage.dictionary(forKey: storageKey) as? [String: String] ?? [:] }
    set { storage.set(newValue, forKey: storageKey) }
  }

  /// The bundled files whose lines are missing, by identifier.
  func missingFiles() -> [(identifier: String, file: URL)] {
    guard let folder = Bundle.main.resourceURL,
      let entries = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    else {
      return []
    }
    let finished = lines
    return entries.compactMap { $0 as? URL }
      .filter { $0.pathExtension == "ahap" }
      .map { ($0.deletingPathExtension().lastPathComponent, $0) }
      .filter { finished[$0.0] == nil }
      .sorted { $0.0 < $1.0 }
  }

  /// Starts an engine, which only a device with haptics has, so that files also become players.
  func prepare() {
    guard CHHapticEngine.capabilitiesForHardware().supportsHaptics else {
      return
    }
    do {
      let newEngine = try CHHapticEngine()
      try newEngine.start()
      engine = newEngine
    } catch {
      print(error)
    }
  }

  func judge(_ identifier: String, _ file: URL) {
    lines[identifier] = "\(identifier)\tcrash\t\t\t\t"
    let fromFile = verdict { try CHHapticPattern(contentsOf: file) }
    let fromDictionary = verdict { try CHHapticPattern(dictionary: Self.dictionary(of: file)) }
    let fields = [identifier] + fromFile.fields + fromDictionary.fields + [fromFile.duration]
    lines[identifier] = fields.joined(separator: "\t")
  }

  private func verdict(
    _ read: () throws -> CHHapticPattern
  ) -> (fields: [String], duration: String) {
    do {
      let pattern = try read()
      _ = try engine?.makePlayer(with: pattern)
      return (["accept", ""], String(pattern.duration))
    } catch {
      let cause = error as NSError
      return (["refuse", "\(cause.domain) \(cause.code)"], "")
    }
  }

  private static func dictionary(of file: URL) throws -> [CHHapticPattern.Key: Any] {
    let root = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
    let pairs = (root ?? [:]).map { (CHHapticPattern.Key(rawValue: $0), $1) }
    return Dictionary(uniqueKeysWithValues: pairs)
  }
}

#if os(iOS) || os(macOS)
  import SwiftUI

  @main struct CaseRunApp: App {
    var body: some Scene {
      WindowGroup {
        CaseRunView()
      }
    }
  }

  struct CaseRunView: View {
    @State private var text = ""
    private let run = CaseRun()

    var body: some View {
      VStack {
        ScrollView {
          Text(text).font(.caption.monospaced()).textSelection(.enabled)
        }
        ShareLink("Share the lines", item: text)
        Button("Remove the lines") {
          run.lines = [:]
          text = ""
        }
      }
      .task {
        run.prepare()
        for (identifier, file) in run.missingFiles() {
          run.judge(identifier, file)
          await Task.yield()
        }
        let system = ProcessInfo.processInfo.operatingSystemVersionString
        let heading = "# \(system), \(run.engineNote)"
        text = ([heading] + run.lines.values.sorted()).joined(separator: "\n")
        print(text)
      }
    }
  }
#endif
