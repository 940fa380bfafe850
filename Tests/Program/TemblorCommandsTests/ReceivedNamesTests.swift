import Foundation
import HapticFormats
import SystemSupport
import TestSupport
import Testing

@testable import CommandLineKit
@testable import TemblorCommands

/// Files whose names or links come from an input of somebody else: nothing that exists changes.
@Suite struct ReceivedNamesTests {
  /// A pattern of a hostile pack, and the expected end of `convert`.
  struct Hostile: Sendable, CustomTestStringConvertible {
    enum Content { case text, sound, folder, link, none }

    var name: String
    /// The sound file that the pattern names; `#` is the folder of the test.
    var reference: String
    /// The content of that file in the pack.
    var content: Content
    /// The status and the end of the message with an empty folder.
    var empty: (status: CommandLineKit.ExitStatus, message: String)
    /// The same with a folder full of files of the same names; nil where it is the same.
    var full: (status: CommandLineKit.ExitStatus, message: String)?

    var testDescription: String { name }
  }

  private static func dropped(_ reference: String, _ reason: String) -> (
    CommandLineKit.ExitStatus, String
  ) {
    (.success, ": dropped: the sound file '\(reference)' \(reason)\n")
  }
  private static func copied(_ name: String, from source: String) -> (
    CommandLineKit.ExitStatus, String
  ) {
    (.success, "home/\(name): copied from 'pack/\(source)'\n")
  }
  private static func refused(_ name: String, _ reason: String, option: String = "'--output'")
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

  static let pack = [
    Hostile(
      name: "dotfile", reference: ".profile", content: .text, empty: dropped(".profile", dot)),
    Hostile(
      name: "autostart", reference: ".config/autostart/x.desktop", content: .sound,
      empty: dropped(".config/autostart/x.desktop", dot)),
    Hostile(
      name: "parent", reference: "../../escape.wav", content: .none, empty: (.invalidInput, parent)),
    Hostile(
      name: "detour", reference: "down/../a.wav", content: .sound, empty: (.invalidInput, parent)),
    Hostile(
      name: "absolute", reference: "#/escape.wav", content: .none, empty: (.invalidInput, absolute)),
    Hostile(
      name: "linked", reference: "secret.wav", content: .link, empty: dropped("secret.wav", outside)
    ),
    Hostile(
      name: "text", reference: "a.wav", content: .text,
      empty: dropped("a.wav", "is not a readable sound file (libsndfile: Format not recognised.)")),
    Hostile(
      name: "replacing", reference: "a.wav", content: .sound,
      empty: copied("a.wav", from: "replacing/a.wav"),
      full: refused("a.wav", "exists and differs from the sound file 'pack/replacing/a.wav'")),
    Hostile(
      name: "capitals", reference: "A.WAV", content: .sound,
      empty: copied("A.WAV", from: "capitals/A.WAV")),
    Hostile(
      name: "folderlink", reference: "folder/b.wav", content: .sound,
      empty: copied("folder/b.wav", from: "folderlink/folder/b.wav"),
      full: refused("folder", link, option: "output folder")),
    Hostile(
      name: "filelink", reference: "link.wav", content: .sound,
      empty: copied("link.wav", from: "filelink/link.wav"),
      full: refused("link.wav", link, option: "output folder")),
    Hostile(
      name: "brokenlink", reference: "broken.wav", content: .sound,
      empty: copied("broken.wav", from: "brokenlink/broken.wav"),
      full: refused("broken.wav", link, option: "output folder")),
    Hostile(
      name: "slashes", reference: "sub//c.wav", content: .sound,
      empty: copied("sub/c.wav", from: "slashes/sub/c.wav"),
      full: refused("sub", "exists and is not a folder", option: "output folder")),
    Hostile(
      name: "trailing", reference: "a.wav/", content: .sound,
      empty: dropped("a.wav/", "was not found in the pattern's folder; did you mean 'a.wav'?")),
    Hostile(
      name: "folder", reference: "d.wav", content: .folder,
      empty: dropped("d.wav", "is not a regular file")),
    Hostile(
      name: "itself", reference: "itself.ahap", content: .none,
      empty: dropped(
        "itself.ahap", "is not a readable sound file (libsndfile: Format not recognised.)")),
    Hostile(
      name: "output", reference: "new.ahap", content: .sound,
      empty: refused(
        "new.ahap", "cannot be both an output file and a copy of 'pack/output/new.ahap'")),
  ]

  private static let sound = WaveFile.encodedBytes(of: [0, 0.5, -0.5, 0], rate: 48_000)
  private let place: Scratch

  init() throws {
    place = try Scratch()
    for folder in ["pack", "home", "elsewhere"] {
      try place.makeFolder(folder)
    }
    try place.write(Self.sound, to: "escape.wav")
    try place.write("elsewhere, before", to: "elsewhere/b.wav")
    for hostile in Self.pack {
      try write(hostile)
    }
  }

  private func write(_ hostile: Hostile) throws {
    let folder = "pack/\(hostile.name)"
    let path = "\(folder)/\(hostile.reference)"
    let reference = hostile.reference.replacing("#", with: place.path)
    try place.makeFolder(folder)
    switch hostile.content {
    case .none:
      break
    case .link:
      try place.link(path, to: place("escape.wav"))
    case .folder:
      try place.makeFolder(path)
    case .text, .sound:
      let file = path.hasSuffix("/") ? String(path.dropLast()) : path
      try FileSystem.makeFolder(place(FileSystem.folderPath(of: file).replacing("/..", with: "")))
      try place.write(hostile.content == .sound ? Self.sound : Array("echo evil\n".utf8), to: file)
    }
    try place.write(
      """
      {"Version": 1.0, "Pattern": [{"Event": {"EventType": "AudioCustom", "Time": 0,
        "EventWaveformPath": "\(reference)"}}]}
      """, to: "\(folder)/\(hostile.name).ahap")
  }

  /// Puts a file or a link to every name that the pack aims at.
  private func fillHome() throws {
    try FileSystem.makeFolder(place("home/.config/autostart"))
    for name in [
      ".profile", ".config/autostart/x.desktop", "a.wav", "sub", "secret.wav", "d.wav",
      "escape.wav",
    ] {
      try place.write("home, before", to: "home/\(name)")
    }
    try place.link("home/folder", to: place("elsewhere"))
    try place.link("home/link.wav", to: place("elsewhere/b.wav"))
    try place.link("home/broken.wav", to: place("elsewhere/none.wav"))
  }

  /// The bytes of every file and the target of every link below the folder of the test.
  private func state() throws -> [String: String] {
    var state: [String: String] = [:]
    for path in try FileManager.default.subpathsOfDirectory(atPath: place.path) {
      if let target = try? FileManager.default.destinationOfSymbolicLink(atPath: place(path)) {
        state[path] = "link to \(target)"
      } else if FileSystem.entryKind(at: place(path)) == .file {
        state[path] = try FileSystem.read(place(path)).map { "\($0)" }.joined(separator: " ")
      }
    }
    return state
  }

  private func run(_ words: [String]) -> (status: CommandLineKit.ExitStatus, error: String) {
    let recorded = RecordedTerminal()
    let status = TemblorProgram.makeProgram().run(words, on: recorded.terminal)
    return (status, recorded.error.replacing(place.path + "/", with: ""))
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

  @Test(arguments: pack, [false, true])
  func aHostilePatternChangesNothing(hostile: Hostile, isFull: Bool) throws {
    if isFull {
      try fillHome()
    }
    let before = try state()
    let expected = isFull ? hostile.full ?? hostile.empty : hostile.empty
    let run = run([
      "convert", place("pack/\(hostile.name)/\(hostile.name).ahap"), "-o", place("home/new.ahap"),
    ])
    #expect(run.status == expected.status, "\(run.error)")
    // The last line of a successful conversion names the output file.
    let messages = run.error.split(separator: "\n").filter { !$0.contains(": written, ") }
    let errorText = messages.map { $0 + "\n" }.joined()
    #expect(errorText.hasSuffix(expected.message), "\(run.error)")
    try expectUnchanged(before, allowsNew: run.status == .success)
    let mustExist = expected.message.contains(": copied from ") ? 2 : run.status == .success ? 1 : 0
    #expect(try state().count == before.count + mustExist)
  }

  @Test(arguments: [false, true]) func aHostilePackIsRefusedAsAWhole(isFull: Bool) throws {
    if isFull {
      try fillHome()
    }
    try write(
      Hostile(
        name: "second", reference: "a.wav", content: .sound,
        empty: Self.copied("a.wav", from: "second/a.wav")))
    try place.write(WaveFile.encodedBytes(of: [0.1], rate: 48_000), to: "pack/second/a.wav")
    let before = try state()
    // Two patterns of the pack name 'a.wav', and their sounds differ.
    let conflict = isFull ? "home/a.wav: exists and differs" : "home/a.wav: cannot be a copy of"
    let files = (Self.pack.map(\.name) + ["second"]).map { place("pack/\($0)/\($0).ahap") }
    let run = run(["convert", "--format", "ahap", "-o", place("home/")] + files)
    #expect(run.status == .failure && run.error.contains(conflict), "\(run.error)")
    #expect(try state() == before)
  }

  @Test func aDroppedSoundIsALoss() throws {
    let run = run([
      "convert", "--strict", place("pack/dotfile/dotfile.ahap"), "-o", place("home/new.ahap"),
    ])
    #expect(run.status == .invalidInput)
    #expect(try FileSystem.visibleNames(in: place("home")) == [])
  }

  @Test func aScriptThatIsASoundFileIsNotCopied() throws {
    // Libsndfile reads text with such a first line as a sound.
    let script = "PVF1\n1 8000 8\necho evil\n" + String(repeating: "# \n", count: 100)
    try place.write(script, to: "pack/text/a.wav")
    let run = run(["convert", place("pack/text/text.ahap"), "-o", place("home/new.ahap")])
    #expect(run.error.contains("the sound file 'a.wav' is not in "), "\(run.error)")
    #expect(try FileSystem.visibleNames(in: place("home")) == ["new.ahap"])
  }

  @Test func aTracedSoundReplacesNone() throws {
    try fillHome()
    try place.write(try sounding(), to: "link.wav")
    try place.write(try sounding(), to: "a.wav")
    try place.write(try sounding(), to: ".profile")
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
      let run = run(["trace", place(sound), "-q", "--with-sound", "-o", place("home/new.ahap")])
      #expect(run.status == .failure && run.error.hasPrefix(message), "\(run.error)")
    }
    #expect(try state() == before)
    let words = ["trace", place("a.wav"), "-q", "-o", place("home/new")]
    #expect(run(words + ["--with-sound", "--format", "haptic"]).status == .success)
  }

  /// A sound that `trace` makes a pattern of.
  private func sounding() throws -> [UInt8] {
    _ = run(["render", "light", "-q", "-o", place("made.wav")])
    defer { place.remove("made.wav") }
    return try FileSystem.read(place("made.wav"))
  }

  @Test(arguments: [
    ["render", "-q"], ["render", "-q", "--stems"], ["convert", "--format", "haptic", "-q"],
    ["plot", "--format", "svg"],
  ]) func outputsOfAFolderFollowNoLinks(words: [String]) throws {
    let tap = #"{"Version":1,"Pattern":[{"Event":{"EventType":"HapticTransient","Time":0}}]}"#
    try FileSystem.makeFolder(place("received/deep"))
    for name in ["first", "second"] {
      try place.write(tap, to: "received/deep/\(name).ahap")
    }
    try place.link("home/deep", to: place("elsewhere"))
    try expectNoLinkFollowed(words)
  }

  @Test func patternsOfTracedFoldersFollowNoLinks() throws {
    try place.makeFolder("received")
    try place.write(try sounding(), to: "received/tap.wav")
    try place.link("home/tap.haptic", to: place("elsewhere/b.wav"))
    try expectNoLinkFollowed(["trace", "-q", "--format", "haptic"])
  }

  private func expectNoLinkFollowed(_ words: [String]) throws {
    let before = try state()
    let run = run(words + [place("received"), "-o", place("home/")])
    #expect(run.status == .failure, "\(run.error)")
    #expect(run.error.contains("is a link, and links are not followed"), "\(run.error)")
    #expect(try state() == before)
  }

  @Test(arguments: [["check", "--fix"], ["format", "--in-place"], ["studio", "--serve"]])
  func linksInAFolderAreNotRewritten(words: [String]) throws {
    // A pattern with a fault that can be fixed, which is not in canonical form.
    try place.write(
      #"{"Pattern":[{"Event":{"EventType":"HapticTransient","Time":0,},}],"Version":1.0}"#,
      to: "elsewhere/own.ahap")
    try place.makeFolder("received")
    try place.link("received/tap.ahap", to: place("elsewhere/own.ahap"))
    let before = try state()
    let run = run(words + [place("received")])
    #expect(
      run.error.contains("received/tap.ahap: is a link in a folder and is not rewritten"),
      "\(run.error)")
    #expect(run.status == .failure, "\(run.error)")
    #expect(try state() == before)
  }

  @Test func renderedStimuliReplaceNone() throws {
    try fillHome()
    try place.write("id,level\nreference,-40\nb,-30\n", to: "t.csv")
    let words = ["study", place("t.csv"), "--render", place("home")]
    #expect(run(words).status == .success)
    // The same stimuli are equal to their files.
    let before = try state()
    #expect(run(words).status == .success)
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
      try place.write("id,level\nreference,-40\nnew,-35\n\(id),-30\n", to: "t.csv")
      let run = run(words)
      #expect(run.status == .failure && run.error.hasPrefix(message), "\(run.error)")
    }
    try place.write("id,level\nreference,-40\nb,-30\n", to: "t.csv")
    #expect(try state() == before)
  }
}
