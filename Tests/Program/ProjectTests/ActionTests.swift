import Foundation
import TestSupport
import Testing

/// The scripts of the GitHub Action, with stand-ins for the programs that they call.
@Suite struct ActionTests {
  private static let isJQInstalled = unsafe access("/usr/bin/jq", X_OK) == 0
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try folder.makeFolder("programs")
  }

  /// Writes a shell script that precedes other programs of its name in the search path.
  private func makeProgram(_ name: String, _ text: String) throws {
    let path = "programs/\(name)"
    try folder.write("#!/bin/bash\n\(text)\n", to: path)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o755], ofItemAtPath: folder(path))
  }

  /// Runs a shell command, and returns its output.
  private func run(_ command: String, _ environment: [String] = []) throws -> String {
    let process = try ProcessRunner.start(
      ["/bin/bash", "-c", command],
      environment: ["PATH=\(folder("programs")):/usr/bin:/bin", "HOME=\(folder.path)"]
        + environment,
      in: folder.path,
      streams: [
        (1, .file(folder("output"), flags: O_WRONLY | O_CREAT | O_TRUNC)),
        (2, .file(folder("errors"), flags: O_WRONLY | O_CREAT | O_TRUNC)),
      ])
    let status = ProcessRunner.waitForEnd(of: process)
    let errors = try String(contentsOfFile: folder("errors"), encoding: .utf8)
    #expect(status == 0, "\(errors)")
    return try String(contentsOfFile: folder("output"), encoding: .utf8)
  }

  private func script(_ name: String) -> String {
    Checkout.root.appending(path: "Examples/action/\(name)").path
  }

  @Test("Failures have the paths of the package's files, not of packages in its folder")
  func pathsOfFailures() throws {
    let paths = [
      "Tests/Extra+Tests.swift", "Tests/TapTests.swift", "a/temblor/Package.swift",
      "a/temblor/Tests/TapTests.swift", "Package.swift",
    ]
    for path in paths {
      try FileManager.default.createDirectory(
        atPath: URL(filePath: folder("package/" + path)).deletingLastPathComponent().path,
        withIntermediateDirectories: true)
      try folder.write("", to: "package/" + path)
    }
    try makeProgram(
      "swift", "echo 'failed at TapTests.swift:3:1'; echo 'lost at Extra+Tests.swift:4:1'")
    let expected = "failed at Tests/TapTests.swift:3:1\nlost at Tests/Extra+Tests.swift:4:1\n"
    #expect(try run("cd package && '\(script("run-tests.sh"))'") == expected)

    let workflow = try Checkout.text("Examples/RunCoach/.github/workflows/haptics.yml")
    let search = try #require(workflow.firstMatch(of: /- run: >-\n((?: {10}[^\n]+\n)+)/)).1
    let command = search.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    let rename = try #require(workflow.firstMatch(of: /\| (sed -u [^\n]+)/)).1
    let steps = "\(command.joined(separator: " ")) && swift test | \(rename)"
      .replacing("/tmp/paths.sed", with: "../paths.sed")
    #expect(try run("cd package && " + steps) == expected)
  }

  @Test(
    "A comment is updated when its changes are reverted, and not made without a change",
    .enabled(if: isJQInstalled, "apt-get install jq"))
  func comments() throws {
    try makeProgram("temblor", "exit 1")
    try makeProgram(
      "curl",
      """
      case "$*" in
      *per_page*) cat '\(folder("comments"))' ;;
      *) echo "$*" | grep -oE '(POST|PATCH) .*' | sed 's/--data [^ ]* //' >> '\(folder("calls"))'
        cat "${@: -2:1}" 2> /dev/null || true ;;
      esac
      """)
    try folder.write("", to: "calls")
    let event = #"{"pull_request": {"number": 7, "base": {"sha": "HEAD"}}}"#
    try folder.write(event, to: "event")
    _ = try run(
      "git init -q repository && cd repository && git -c user.name=a -c user.email=a@b commit -q "
        + "--allow-empty -m start")
    let environment = [
      "GITHUB_EVENT_PATH=\(folder("event"))", "GITHUB_TOKEN=token", "GITHUB_REPOSITORY=a/b",
      "GITHUB_API_URL=https://api",
    ]
    let review = "cd repository && '\(script("haptics-review.sh"))'"
    try folder.write("[]", to: "comments")
    _ = try run(review, environment)
    #expect(try String(contentsOfFile: folder("calls"), encoding: .utf8) == "")
    try folder.write("[{\"id\": 42, \"body\": \"<!-- haptics-review -->\\nold\"}]", to: "comments")
    _ = try run(review, environment)
    let calls = try String(contentsOfFile: folder("calls"), encoding: .utf8)
    #expect(calls == "PATCH https://api/repos/a/b/issues/comments/42\n")
    let comment = try String(
      contentsOfFile: folder("repository/haptics-review/comment.md"), encoding: .utf8)
    #expect(comment.hasSuffix("No haptic snapshot changes.\n"))
  }
}
