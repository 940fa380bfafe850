import Foundation
import HapticFormats
import SystemSupport
import TestSupport
import Testing

@testable import CommandLineKit
@testable import TemblorCommands

/// Names and links from an untrusted input never change an existing file.
@Suite struct ReceivedNamesTests {
  /// A pattern of a hostile pack, and the expected end of `convert`.
  struct HostileName: Sendable, CustomTestStringConvertible {
    enum Content { case text, sound, folder, link, none }

    var name: String
    /// The sound file that the pattern names; `#` is the folder of the test.
    var reference: String
    /// The content of that file in the pack.
    var content: Content
    /// The status and the end of the message with an empty folder.
    var emptyOutcome: (status: CommandLineKit.ExitStatus, message: String)
    /// The outcome with a folder that contains files of the same names; nil if it is the same.
    var fullOutcome: (status: CommandLineKit.ExitStatus, message: String)?

    var testDescription: String { name }
  }

  private static func droppedOutcome(_ reference: String, _ reason: String) -> (
    CommandLineKit.ExitStatus, String
  ) {
    (.success, ": dropped: the sound file '\(reference)' \(reason)\n")
  }
  private static func copiedOutcome(_ name: String, from source: String) -> (
    CommandLineKit.ExitStatus, String
  ) {
    (.success, "home/\(name): copied from 'pack/\(source)'\n")
  }
  private static func refusedOutcome(
    _ name: String, _ reason: String, option: String = "'--output'"
  )
    -> (CommandLineKit.ExitStatus, String)
  {
    (.failure, "home/\(name): \(reason); choose a different \(option)\n")
  }
  private static let dot = "has a component that starts with a dot; the file is not written"
  private static let parent =
    """
    : error: EventWaveformPath leads outside the pattern's folder with ".." \
    (Pattern[0].Event.EventWaveformPath)

    """
  private static let absolute =
    ": error: EventWaveformPath is an absolute path; it must be relative to the pattern's folder "
    + "(Pattern[0].Event.EventWaveformPath)\n"
  private static let outside = "is outside the pattern's folder"
  private static let link = "is a link, and links are not followed for names from an input"

  static let hostileNames = [
    HostileName(
      name: "dotfile", reference: ".profile", content: .text,
      emptyOutcome: droppedOutcome(".profile", dot)),
    HostileName(
      name: "autostart", reference: ".config/autostart/x.desktop", content: .sound,
      emptyOutcome: droppedOutcome(".config/autostart/x.desktop", dot)),
    HostileName(
      name: "parent", reference: "../../escape.wav", content: .none,
      emptyOutcome: (.invalidInput, parent)),
    HostileName(
      name: "detour", reference: "down/../a.wav", content: .sound,
      emptyOutcome: (.invalidInput, parent)),
    HostileName(
      name: "absolute", reference: "#/escape.wav", content: .none,
      emptyOutcome: (.invalidInput, absolute)),
    HostileName(
      name: "linked", reference: "secret.wav", content: .link,
      emptyOutcome: droppedOutcome("secret.wav", outside)
    ),
    HostileName(
      name: "text", reference: "a.wav", content: .text,
      emptyOutcome: droppedOutcome(
        "a.wav", "is not a readable sound file (libsndfile: Format not recognised.)")),
    HostileName(
      name: "replacing", reference: "a.wav", content: .sound,
      emptyOutcome: copiedOutcome("a.wav", from: "replacing/a.wav"),
      fullOutcome: refusedOutcome(
        "a.wav", "exists and differs from the sound file 'pack/replacing/a.wav'")),
    HostileName(
      name: "capitals", reference: "A.WAV", content: .sound,
      emptyOutcome: copiedOutcome("A.WAV", from: "capitals/A.WAV")),
    HostileName(
      name: "folderlink", reference: "folder/b.wav", content: .sound,
      emptyOutcome: copiedOutcome("folder/b.wav", from: "folderlink/folder/b.wav"),
      fullOutcome: refusedOutcome("folder", link, option: "output folder")),
    HostileName(
      name: "filelink", reference: "link.wav", content: .sound,
      emptyOutcome: copiedOutcome("link.wav", from: "filelink/link.wav"),
      fullOutcome: refusedOutcome("link.wav", link, option: "output folder")),
    HostileName(
      name: "brokenlink", reference: "broken.wav", content: .sound,
      emptyOutcome: copiedOutcome("broken.wav", from: "brokenlink/broken.wav"),
      fullOutcome: refusedOutcome("broken.wav", link, option: "output folder")),
    HostileName(
      name: "slashes", reference: "sub//c.wav", content: .sound,
      emptyOutcome: copiedOutcome("sub/c.wav", from: "slashes/sub/c.wav"),
      fullOutcome: refusedOutcome("sub", "exists and is not a folder", option: "output folder")),
    HostileName(
      name: "samefolder", reference: "./e.wav", content: .sound,
      emptyOutcome: copiedOutcome("e.wav", from: "samefolder/e.wav")),
    HostileName(
      name: "trailing", reference: "a.wav/", content: .sound,
      emptyOutcome: droppedOutcome(
        "a.wav/", "was not found in the pattern's folder; did you mean 'a.wav'?")),
    HostileName(
      name: "folder", reference: "d.wav", content: .folder,
      emptyOutcome: droppedOutcome("d.wav", "is not a regular file")),
    HostileName(
      name: "itself", reference: "itself.ahap", content: .none,
      emptyOutcome: droppedOutcome(
        "itself.ahap", "is not a readable sound file (libsndfile: Format not recognised.)")),
    HostileName(
      name: "output", reference: "new.ahap", content: .sound,
      emptyOutcome: refusedOutcome(
        "new.ahap", "cannot be both an output file and a copy of 'pack/output/new.ahap'")),
  ]

  private static let sound = WaveFile.encodedBytes(of: [0, 0.5, -0.5, 0], rate: 48_000)
  private let testFolder: TemporaryFolder

  init() throws {
    testFolder = try TemporaryFolder()
    for folder in ["pack", "home", "elsewhere"] {
      try testFolder.makeFolder(folder)
    }
    try testFolder.write(Self.sound, to: "escape.wav")
    try testFolder.write("elsewhere, before", to: "elsewhere/b.wav")
    for hostile in Self.hostileNames {
      try write(hostile)
    }
  }

  private func write(_ hostile: HostileName) throws {
    let folder = "pack/\(hostile.name)"
    let path = "\(folder)/\(hostile.reference)"
    let reference = hostile.reference.replacing("#", with: testFolder.path)
    try testFolder.makeFolder(folder)
    switch hostile.content {
    case .none:
      break
    case .link:
      try testFolder.link(path, to: testFolder("escape.wav"))
    case .folder:
      try testFolder.makeFolder(path)
    case .text, .sound:
      let file = path.hasSuffix("/") ? String(path.dropLast()) : path
      try FileSystem.makeFolder(
        testFolder(FileSystem.folderPath(of: file).replacing("/..", with: "")))
      try testFolder.write(
        hostile.content == .sound ? Self.sound : Array("echo evil\n".utf8), to: file)
    }
    try testFolder.write(
      """
      {"Version": 1.0, "Pattern": [{"Event": {"EventType": "AudioCustom", "Time": 0,
        "EventWaveformPath": "\(reference)"}}]}
      """, to: "\(folder)/\(hostile.name).ahap")
  }

  /// Creates a file or a link for every name that the pack tries to write.
  private func fillHome() throws {
    try FileSystem.makeFolder(testFolder("home/.config/autostart"))
    for name in [
      ".profile", ".config/autostart/x.desktop", "a.wav", "sub", "secret.wav", "d.wav",
      "escape.wav",
    ] {
      try testFolder.write("home, before", to: "home/\(name)")
    }
    try testFolder.link("home/folder", to: testFolder("elsewhere"))
    try testFolder.link("home/link.wav", to: testFolder("elsewhere/b.wav"))
    try testFolder.link("home/broken.wav", to: testFolder("elsewhere/none.wav"))
  }

  /// The bytes of every file and the target of every link below the folder of the test.
  private func state() throws -> [String: String] {
    var state: [String: String] = [:]
    for path in try FileManager.default.subpathsOfDirectory(atPath: testFolder.path) {
      if let target = try? FileManager.default.destinationOfSymbolicLink(atPath: testFolder(path)) {
        state[path] = "link to \(target)"
      } else if FileSystem.entryKind(at: testFolder(path)) == .file {
        state[path] = try FileSystem.read(testFolder(path)).map { "\($0)" }.joined(separator: " ")
      }
    }
    return state
  }

  private func expectUnchanged(_ before: [String: String], allowsNew: Bool) throws {
    let after = try state()
    for (path, content) in before {
      #expect(after[path] == content, "\(path)")
    }
    if !allowsNew {
      #expect(after.count == before.count, "\(after.keys.filter { before[$0] == nil })")
    }
  }

  @Test(arguments: hostileNames, [false, true])
  func aHostilePatternChangesNothing(hostile: HostileName, isFull: Bool) throws {
    if isFull {
      try fillHome()
    }
    let before = try state()
    let expected = isFull ? hostile.fullOutcome ?? hostile.emptyOutcome : hostile.emptyOutcome
    let run = testFolder.runTemblor([
      "convert", testFolder("pack/\(hostile.name)/\(hostile.name).ahap"), "-o",
      testFolder("home/new.ahap"),
    ])
    #expect(run.status == expected.status, "\(run.error)")
    // The last line of a successful conversion names the output file.
    let messages = run.error.split(separator: "\n").filter { !$0.contains(": written, ") }
    let errorText = messages.map { $0 + "\n" }.joined()
    #expect(errorText.hasSuffix(expected.message), "\(run.error)")
    try expectUnchanged(before, allowsNew: run.status == .success)
    let newFileCount =
      expected.message.contains(": copied from ") ? 2 : run.status == .success ? 1 : 0
    #expect(try state().count == before.count + newFileCount)
  }

  @Test(arguments: [false, true]) func aHostilePackIsRefusedAsAWhole(isFull: Bool) throws {
    if isFull {
      try fillHome()
    }
    try write(
      HostileName(
        name: "second", reference: "a.wav", content: .sound,
        emptyOutcome: Self.copiedOutcome("a.wav", from: "second/a.wav")))
    try testFolder.write(WaveFile.encodedBytes(of: [0.1], rate: 48_000), to: "pack/second/a.wav")
    let before = try state()
    // Two patterns of the pack name 'a.wav', and their sounds differ.
    let conflict = isFull ? "home/a.wav: exists and differs" : "home/a.wav: cannot be a copy of"
    let files = (Self.hostileNames.map(\.name) + ["second"]).map {
      testFolder("pack/\($0)/\($0).ahap")
    }
    let run = testFolder.runTemblor(
      ["convert", "--format", "ahap", "-o", testFolder("home/")] + files)
    #expect(run.status == .failure && run.error.contains(conflict), "\(run.error)")
    #expect(try state() == before)
  }

  @Test func aDroppedSoundIsALoss() throws {
    let run = testFolder.runTemblor([
      "convert", "--strict", testFolder("pack/dotfile/dotfile.ahap"), "-o",
      testFolder("home/new.ahap"),
    ])
    #expect(run.status == .invalidInput)
    #expect(try FileSystem.visibleNames(in: testFolder("home")) == [])
  }

  @Test func aScriptThatIsASoundFileIsNotCopied() throws {
    // Libsndfile reads text with such a first line as a sound.
    let script = "PVF1\n1 8000 8\necho evil\n" + String(repeating: "# \n", count: 100)
    try testFolder.write(script, to: "pack/text/a.wav")
    let run = testFolder.runTemblor([
      "convert", testFolder("pack/text/text.ahap"), "-o", testFolder("home/new.ahap"),
    ])
    #expect(run.error.contains("the sound file 'a.wav' is not in "), "\(run.error)")
    #expect(try FileSystem.visibleNames(in: testFolder("home")) == ["new.ahap"])
  }

  @Test func tracedSoundReplacesNoFile() throws {
    try fillHome()
    try testFolder.write(try sounding(), to: "link.wav")
    try testFolder.write(try sounding(), to: "a.wav")
    try testFolder.write(try sounding(), to: ".profile")
    let before = try state()
    for (sound, message) in [
      (
        "a.wav",
        """
        home/a.wav: exists and differs from the sound file 'a.wav'; choose a different '--output'\n
        """
      ),
      (
        "link.wav",
        "home/link.wav: is a link, and links are not followed for names from an input; choose a "
      ),
      (
        ".profile",
        ".profile: has a component that starts with a dot; the file is not written\n"
      ),
    ] {
      let run = testFolder.runTemblor([
        "trace", testFolder(sound), "-q", "--with-sound", "-o", testFolder("home/new.ahap"),
      ])
      #expect(run.status == .failure && run.error.hasPrefix(message), "\(run.error)")
    }
    #expect(try state() == before)
    let arguments = ["trace", testFolder("a.wav"), "-q", "-o", testFolder("home/new")]
    #expect(
      testFolder.runTemblor(arguments + ["--with-sound", "--format", "haptic"]).status == .success)
  }

  /// Returns a sound from which `trace` makes a pattern.
  private func sounding() throws -> [UInt8] {
    _ = testFolder.runTemblor(["render", "light", "-q", "-o", testFolder("made.wav")])
    defer { testFolder.remove("made.wav") }
    return try FileSystem.read(testFolder("made.wav"))
  }

  @Test(arguments: [
    ["render", "-q"], ["render", "-q", "--stems"], ["convert", "--format", "haptic", "-q"],
    ["plot", "--format", "svg"],
  ]) func outputsOfAFolderFollowNoLinks(arguments: [String]) throws {
    let tap = #"{"Version":1,"Pattern":[{"Event":{"EventType":"HapticTransient","Time":0}}]}"#
    try FileSystem.makeFolder(testFolder("received/deep"))
    for name in ["first", "second"] {
      try testFolder.write(tap, to: "received/deep/\(name).ahap")
    }
    try testFolder.link("home/deep", to: testFolder("elsewhere"))
    try expectNoLinkFollowed(arguments)
  }

  @Test func patternsOfTracedFoldersFollowNoLinks() throws {
    try testFolder.makeFolder("received")
    try testFolder.write(try sounding(), to: "received/tap.wav")
    try testFolder.link("home/tap.haptic", to: testFolder("elsewhere/b.wav"))
    try expectNoLinkFollowed(["trace", "-q", "--format", "haptic"])
  }

  private func expectNoLinkFollowed(_ arguments: [String]) throws {
    let before = try state()
    let run = testFolder.runTemblor(
      arguments + [testFolder("received"), "-o", testFolder("home/")])
    #expect(run.status == .failure, "\(run.error)")
    #expect(run.error.contains("is a link, and links are not followed"), "\(run.error)")
    #expect(try state() == before)
  }

  @Test(arguments: [["check", "--fix"], ["format", "--in-place"], ["studio", "--serve"]])
  func linksInAFolderAreNotRewritten(arguments: [String]) throws {
    // A pattern with a fault that can be fixed, which is not in canonical form.
    try testFolder.write(
      #"{"Pattern":[{"Event":{"EventType":"HapticTransient","Time":0,},}],"Version":1.0}"#,
      to: "elsewhere/own.ahap")
    try testFolder.makeFolder("received")
    try testFolder.link("received/tap.ahap", to: testFolder("elsewhere/own.ahap"))
    let before = try state()
    let run = testFolder.runTemblor(arguments + [testFolder("received")])
    #expect(
      run.error.contains("received/tap.ahap: is a link in a folder and is not rewritten"),
      "\(run.error)")
    #expect(run.status == .failure, "\(run.error)")
    #expect(try state() == before)
  }

  @Test func renderedStimuliReplaceNoFile() throws {
    try fillHome()
    try testFolder.write("id,level\nreference,-40\nb,-30\n", to: "t.csv")
    let arguments = ["study", testFolder("t.csv"), "--render", testFolder("home")]
    #expect(testFolder.runTemblor(arguments).status == .success)
    // The same stimuli are equal to their files.
    let before = try state()
    #expect(testFolder.runTemblor(arguments).status == .success)
    #expect(try state() == before)
    for (id, message) in [
      (
        "a",
        """
        temblor: home/a.wav: exists and does not contain this stimulus; choose a different folder

        """
      ),
      ("link", "temblor: home/link.wav: is a link, and links are not followed"),
      (
        ".b",
        "temblor: .b.wav: has a component that starts with a dot; the file is not written\n"
      ),
    ] {
      try testFolder.write("id,level\nreference,-40\nnew,-35\n\(id),-30\n", to: "t.csv")
      let run = testFolder.runTemblor(arguments)
      #expect(run.status == .failure && run.error.hasPrefix(message), "\(run.error)")
    }
    try testFolder.write("id,level\nreference,-40\nb,-30\n", to: "t.csv")
    #expect(try state() == before)
  }
}
