import Foundation
import Testing

@testable import CommandLineKit
@testable import TemblorCommands

@Suite struct CompletionTests {
  static func exists(_ shell: Shell) -> Bool {
    ["/bin/", "/usr/bin/"].contains {
      FileManager.default.isExecutableFile(atPath: $0 + shell.rawValue)
    }
  }

  @Test(arguments: Shell.allCases.filter(exists)) func shellAcceptsItsScript(shell: Shell) throws {
    let script = SampleProgram.program.completionScript(for: shell)
    // Fish reads its standard input only if it is named.
    let arguments = shell == .fish ? ["-n", "/dev/stdin"] : ["-n"]
    #expect(try Script.run(shell.rawValue, arguments, input: script) == "")
  }

  @Test(arguments: [
    (["sketch", "p"], "paint"), (["sketch", ""], "paint compare completion help"),
    (["sketch", "-"], "-h --help --version"), (["sketch", "paint", "--s"], "--size"),
    (["sketch", "paint", "d", "--tone", ""], "dark bright"),
    (["sketch", "paint", "--tone", "="], "dark bright"),
    (["sketch", "paint", "--tone", "=", "b"], "bright"), (["sketch", "paint", "--size", ""], ""),
    (["sketch", "paint", "--layer", "s"], "sky sea"),
    (["sketch", "help", "c"], "compare completion"),
    (["sketch", "help", "compare", ""], ""), (["sketch", "completion", ""], "bash zsh fish"),
    (["sketch", "nonesuch", ""], ""),
  ]) func bashOffers(words: [String], offers: String) throws {
    let line = words.map(\.inShellQuotes).joined(separator: " ")
    let typedLine = Script.typed(words)
    let script =
      SampleProgram.program.completionScript(for: .bash) + """
        compopt() { :; }
        cd /proc/self/task # its folders have numbers for names
        COMP_WORDS=(\(line)) COMP_CWORD=\(words.count - 1) COMP_LINE=\(typedLine.inShellQuotes)
        _sketch
        echo -n "${COMPREPLY[*]}"
        """
    #expect(try Script.run("bash", input: script) == offers)
  }

  @Test func bashOffersFilesOfAnEndingAndFolders() throws {
    let script =
      SampleProgram.program.completionScript(for: .bash) + """
        compopt() { :; }
        folder=$(mktemp -d) && cd "$folder" && mkdir 'a folder' && touch 'b c.txt' d.png
        COMP_WORDS=(sketch paint '') COMP_CWORD=2 COMP_LINE='sketch paint '
        _sketch
        printf '%s\\n' "${COMPREPLY[@]}"
        rm -r "$folder"
        """
    #expect(try Script.run("bash", input: script) == "a folder\nb c.txt\n")
  }

  /// Fish cannot offer only files with certain extensions, so the script contains a function.
  @Test(.enabled(if: exists(.fish))) func fishOffersFilesOfAnEndingAndFolders() throws {
    let script =
      SampleProgram.program.completionScript(for: .fish) + """
        set folder (mktemp -d); cd $folder; mkdir 'a folder'; touch 'b c.txt' d.png e.svg
        complete -C 'sketch paint ' | string replace -r '\\t.*' ''
        echo -
        complete -C 'sketch paint --layer ' | string replace -r '\\t.*' '' | sort
        echo -
        complete -C 'sketch paint --layer=d' | string replace -r '\\t.*' '' | sort
        cd /; rm -r $folder
        """
    #expect(
      try Script.run("fish", "--no-config", input: script)
        == "a folder/\nb c.txt\n-\na folder/\nd.png\ne.svg\nsea\nsky\n-\n--layer=d.png\n")
  }

  @Test func writesForZsh() {
    let script = SampleProgram.program.completionScript(for: .zsh)
    #expect(
      script.hasPrefix(
        #"""
        #compdef sketch
        # Completion of sketch for zsh.
        _sketch_verbs() {
          local -a verbs=(
            'paint:Paint a picture of each drawing'
            'compare:Compare two drawings'
            'completion:Print a completion script'
            'help:Show help for the program or for a command'
          )
          _describe -t commands command verbs
        }
        _sketch_verb_paint_NAME() {
          _alternative 'words:NAME:(sky sea)' 'paths:file:_files -g "*.(png|svg)"'
        }
        _sketch_verb_paint() {
          _arguments -s -S \
            '(-o --output)'{-o+,--output=}'[Write the picture to FILE]:FILE:_files' \
            '(--tone)'--tone='[How the colours are mixed]:TONE:(dark bright)' \
            '*'{-v,--verbose}'[Tell more; twice, tell all]' \
            '(- : *)'{-h,--help}'[Show this help]' \
            '(--size)'--size='[Dots on each side]:COUNT: ' \
            '(--gain)'--gain='[Make it \[lighter\]\: "up" or '\''down'\'']:DB: ' \
            '*'--layer='[Add a layer]:NAME:_sketch_verb_paint_NAME' \
            '*'{-q,--quiet}'[Print nothing]' \
            '*:DRAWING:_files -g "*.txt"'
        }
        _sketch_verb_compare() {
          _arguments -s -S \
            '(- : *)'{-h,--help}'[Show this help]' \
            ':FIRST:_files' \
            ':SECOND:_files' \
            '::FOLDER:_files -/'
        }

        """#))
  }

  @Test func writesForFish() {
    let fish = #"""
      # Completion of sketch for fish.
      function __sketch_files -d 'Files with these extensions, and folders'
        set -l word (string replace -r -- '^-[^=]*=' '' (commandline -ct))
        set -l endings (string join '|' $argv)
        __fish_complete_path $word | string match -r -- "^[^\t]*(?:/|\.(?:$endings))(?:\t.*)?\$"
      end
      complete -c sketch -f
      complete -c sketch -n '__fish_use_subcommand' -s h -l help -d 'Show this help'
      complete -c sketch -n '__fish_use_subcommand' -l version -d 'Show the version'
      complete -c sketch -n '__fish_use_subcommand' -a paint -d 'Paint a picture of each drawing'
      complete -c sketch -n '__fish_use_subcommand' -a compare -d 'Compare two drawings'
      complete -c sketch -n '__fish_use_subcommand' -a completion -d 'Print a completion script'
      complete -c sketch -n '__fish_use_subcommand' -a help -d 'Show help for the program or for a command'
      complete -c sketch -n '__fish_seen_subcommand_from paint; and not __fish_seen_subcommand_from help' -s o -l output -r -F -d 'Write the picture to FILE'
      complete -c sketch -n '__fish_seen_subcommand_from paint; and not __fish_seen_subcommand_from help' -l tone -r -f -a 'dark bright' -d 'How the colours are mixed'
      complete -c sketch -n '__fish_seen_subcommand_from paint; and not __fish_seen_subcommand_from help' -s v -l verbose -d 'Tell more; twice, tell all'
      complete -c sketch -n '__fish_seen_subcommand_from paint; and not __fish_seen_subcommand_from help' -s h -l help -d 'Show this help'
      complete -c sketch -n '__fish_seen_subcommand_from paint; and not __fish_seen_subcommand_from help' -l size -r -f -d 'Dots on each side'
      complete -c sketch -n '__fish_seen_subcommand_from paint; and not __fish_seen_subcommand_from help' -l gain -r -f -d 'Make it [lighter]: "up" or \'down\''
      complete -c sketch -n '__fish_seen_subcommand_from paint; and not __fish_seen_subcommand_from help' -l layer -r -f -a 'sky sea (__sketch_files png svg)' -d 'Add a layer'
      complete -c sketch -n '__fish_seen_subcommand_from paint; and not __fish_seen_subcommand_from help' -s q -l quiet -d 'Print nothing'
      complete -c sketch -n '__fish_seen_subcommand_from paint; and not __fish_seen_subcommand_from help' -f -a '(__sketch_files txt)' -d 'DRAWING'
      complete -c sketch -n '__fish_seen_subcommand_from compare; and not __fish_seen_subcommand_from help' -s h -l help -d 'Show this help'
      complete -c sketch -n '__fish_seen_subcommand_from compare; and not __fish_seen_subcommand_from help' -F -d 'FIRST'
      complete -c sketch -n '__fish_seen_subcommand_from compare; and not __fish_seen_subcommand_from help' -F -d 'SECOND'
      complete -c sketch -n '__fish_seen_subcommand_from compare; and not __fish_seen_subcommand_from help' -f -a '(__fish_complete_directories)' -d 'FOLDER'
      complete -c sketch -n '__fish_seen_subcommand_from completion; and not __fish_seen_subcommand_from help' -s h -l help -d 'Show this help'
      complete -c sketch -n '__fish_seen_subcommand_from completion; and not __fish_seen_subcommand_from help' -f -a 'bash zsh fish' -d 'SHELL'
      complete -c sketch -n '__fish_seen_subcommand_from help; and not __fish_seen_subcommand_from paint compare completion' -a paint -d 'Paint a picture of each drawing'
      complete -c sketch -n '__fish_seen_subcommand_from help; and not __fish_seen_subcommand_from paint compare completion' -a compare -d 'Compare two drawings'
      complete -c sketch -n '__fish_seen_subcommand_from help; and not __fish_seen_subcommand_from paint compare completion' -a completion -d 'Print a completion script'
      complete -c sketch -n '__fish_seen_subcommand_from help; and not __fish_seen_subcommand_from paint compare completion' -s h -l help -d 'Show this help'
      complete -c sketch -n '__fish_seen_subcommand_from help; and __fish_seen_subcommand_from paint' -s h -l help -d 'Show this help'
      complete -c sketch -n '__fish_seen_subcommand_from help; and __fish_seen_subcommand_from compare' -s h -l help -d 'Show this help'
      complete -c sketch -n '__fish_seen_subcommand_from help; and __fish_seen_subcommand_from completion' -s h -l help -d 'Show this help'

      """#
    #expect(SampleProgram.program.completionScript(for: .fish) == fish)
  }
}
