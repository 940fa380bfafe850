import Foundation
import Testing

@testable import CommandLineKit
@testable import TemblorCommands

@Suite struct ManualPageTests {
  static let page = #"""
    .TH "SKETCH" "1" "2025\-01\-31" "sketch 1.2.3" "User Commands"
    .nh
    .ad l
    .SH "NAME"
    sketch \- Turn drawings into pictures
    .SH "SYNOPSIS"
    \fBsketch \fR\fICOMMAND\fR [OPTIONS] [ARGUMENTS]
    .SH "DESCRIPTION"
    .PP
    A drawing is a text file.
    .SH "OPTIONS"
    .TP
    \fB\-h\fR, \fB\-\-help\fR
    Show this help.
    .TP
    \fB\-\-version\fR
    Show the version.
    .SH "COMMANDS"
    .SS "sketch paint [OPTIONS] DRAWING..."
    Paint a picture of each drawing.
    .PP
    The picture has the drawing\(aqs name and lies beside it. Nothing is left behind where painting fails.
    .PP
    .nf
      drawing.txt \-> drawing.png
    .fi
    .TP
    \fBDRAWING...\fR
    A drawing, or \(ga\-\(ga for standard input.
    .TP
    \fB\-o\fR, \fB\-\-output\fR \fIFILE\fR
    Write the picture to FILE. Default: beside the drawing.
    .TP
    \fB\-\-tone\fR \fITONE\fR
    How the colours are mixed. One of dark or bright. Default: dark.
    .TP
    \fB\-v\fR, \fB\-\-verbose\fR
    Tell more; twice, tell all.
    .TP
    \fB\-\-size\fR \fICOUNT\fR
    Dots on each side. Default: 512.
    .TP
    \fB\-\-gain\fR \fIDB\fR
    Make it [lighter]: \(dqup\(dq or \(aqdown\(aq.
    .TP
    \fB\-\-layer\fR \fINAME\fR
    Add a layer. May be repeated.
    .TP
    \fB\-q\fR, \fB\-\-quiet\fR
    Print nothing.
    .PP
    Examples:
    .PP
    Paint one tree.
    .PP
    .nf
      sketch paint \-o tree.png tree.txt
    .fi
    .SS "sketch compare [OPTIONS] FIRST SECOND [FOLDER]"
    Compare two drawings.
    .TP
    \fBFIRST\fR
    One drawing.
    .TP
    \fBSECOND\fR
    Another drawing.
    .TP
    \fB[FOLDER]\fR
    Where the report goes.
    .SS "sketch completion [OPTIONS] SHELL"
    Print a completion script.
    .TP
    \fBSHELL\fR
    The shell to teach. One of bash, zsh, or fish.
    .SS "sketch help [OPTIONS] [COMMAND]"
    Show help for the program or for a command.
    .TP
    \fB[COMMAND]\fR
    Command to show help for.
    .SH "EXIT STATUS"
    .TP
    \fB0\fR
    Success.
    .TP
    \fB1\fR
    The operation failed, for example because of a full disk, missing permission, or a device error.
    .TP
    \fB2\fR
    Invalid input. Messages include the file, line, and column.
    .TP
    \fB3\fR
    A difference exceeds \-\-tolerance, or a measured value exceeds the uncertainty of the profile.
    .TP
    \fB64\fR
    Usage error.
    .SH "ENVIRONMENT"
    .TP
    \fBNO_COLOR\fR
    If set and not empty, disables colors in output.
    .SH "FILES"
    .PP
    \&.sketchrc is read first.
    .SH "EXAMPLES"
    .PP
    Paint a tree.
    .PP
    .nf
      sketch paint tree.txt
    .fi

    """#

  @Test func describesEveryVerb() { #expect(SampleProgram.program.manualPage() == Self.page) }

  @Test func optionsOfSeveralVerbsHaveOneSection() throws {
    let paper = OptionGroup("Paper", [Option("--size", value: "COUNT", help: "Dots.")])
    let ink = OptionGroup("Ink", [Option("--tone", value: "TONE", help: "Shade.")])
    let verbs = [("draw", [paper, ink]), ("write", [paper])].map { name, groups in
      Command(name, abstract: "\(name).", optionGroups: groups) { _, _ in .success }
    }
    let page = Program(
      "sketch", version: "1", abstract: "Draw.",
      groups: [CommandGroup("Commands", verbs.map { .init($0) })]
    ).manualPage()
    let start = try #require(page.range(of: ".SH \"COMMANDS\""))
    let end = try #require(page.range(of: ".SH \"EXIT STATUS\""))
    let commandSections = String(page[start.upperBound..<end.lowerBound])
    #expect(
      commandSections == #"""

        .SS "sketch draw [OPTIONS]"
        draw.
        .TP
        \fB\-\-tone\fR \fITONE\fR
        Shade.
        .PP
        Options for paper: see below.
        .SS "sketch write [OPTIONS]"
        write.
        .PP
        Options for paper: see below.
        .SS "sketch help [OPTIONS] [COMMAND]"
        Show help for the program or for a command.
        .TP
        \fB[COMMAND]\fR
        Command to show help for.
        .SH "OPTIONS FOR PAPER"
        .TP
        \fB\-\-size\fR \fICOUNT\fR
        Dots.

        """#)
  }

  @Test func textNeverBecomesARequest() {
    let program = Program(
      "sketch", version: "1", abstract: "Draw.", discussion: ".TH \\fBx\n'so \u{e9}", groups: [])
    #expect(program.manualPage().contains("\n.PP\n\\&.TH \\(rsfBx \\(aqso \\[u00E9]\n"))
  }

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/groff")))
  func groffReportsNoWarning() throws {
    let warnings = try Script.run(
      "groff", "-man", "-Tutf8", "-ww", "-z", input: SampleProgram.program.manualPage())
    #expect(warnings == "")
  }
}
