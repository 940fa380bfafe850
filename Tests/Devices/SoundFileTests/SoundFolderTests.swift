import Glibc
import SoundFile
import Testing

/// Paths that a pattern can contain, relative to a folder `root`, with sounds inside and outside of
/// it.
@Suite final class SoundFolderTests {
  private let folderPath: String
  private let folder: SoundFolder

  init() throws {
    var template = Array("/tmp/folder-XXXXXX".utf8CString)
    folderPath = unsafe String(cString: mkdtemp(&template))
    for name in ["root", "root/sub", "root-other"] {
      unsafe mkdir("\(folderPath)/\(name)", 0o700)
    }
    for name in ["out.wav", "root/ok.wav", "root/sub/ok.wav", "root-other/out.wav"] {
      var writer = try SoundFileWriter(
        path: "\(folderPath)/\(name)", format: SoundFileFormat(container: .wav, sampleFormat: .s16),
        rate: 8_000, channelCount: 1)
      try writer.write([0.5, -0.5].span)
      try writer.close()
    }
    for (target, name) in [
      ("../out.wav", "link.wav"), ("..", "way"), ("sub/ok.wav", "near.wav"), ("loop", "loop"),
      ("/etc", "etc"),
    ] {
      unsafe symlink(target, "\(folderPath)/root/\(name)")
    }
    unsafe symlink("root", "\(folderPath)/link-to-root")
    unsafe mkfifo("\(folderPath)/root/pipe.wav", 0o600)
    folder = SoundFolder(rootPath: "\(folderPath)/root")
  }

  deinit {
    for name in ["link.wav", "way", "near.wav", "loop", "etc", "pipe.wav", "ok.wav", "sub/ok.wav"] {
      unsafe unlink("\(folderPath)/root/\(name)")
    }
    for name in ["link-to-root", "out.wav", "root-other/out.wav"] {
      unsafe unlink("\(folderPath)/\(name)")
    }
    for name in ["root/huge.wav", "root/text.wav"] {
      unsafe unlink("\(folderPath)/\(name)")
    }
    for name in ["root/sub", "root", "root-other"] {
      unsafe rmdir("\(folderPath)/\(name)")
    }
    unsafe rmdir(folderPath)
  }

  private func errorKind(_ path: String, in folder: SoundFolder? = nil) -> SoundFileError.Kind? {
    do throws(SoundFileError) {
      _ = try (folder ?? self.folder).decodeSound(at: path)
      return nil
    } catch {
      #expect(error.path == path)
      return error.kind
    }
  }

  @Test(arguments: [
    "ok.wav", "sub/ok.wav", "./ok.wav", "near.wav", "sub/../ok.wav", "way/root/ok.wav",
  ])
  func pathsBelowTheRootAreFound(path: String) throws {
    let sound = try folder.decodeSound(at: path)
    #expect(sound.rate == 8_000)
    #expect(sound.frameCount == 2)
  }

  @Test(arguments: [
    "", "/etc/passwd", "../out.wav", "link.wav", "way/out.wav", "sub/../../out.wav",
    "../root-other/out.wav", ".",
    "sub/..", "etc/passwd", "way", "ok.wav\0../out.wav",
  ]) func pathsOutsideTheRootAreRefused(path: String) { #expect(errorKind(path) == .outside) }

  @Test(arguments: ["gone.wav", "gone/ok.wav", "ok.wav/ok.wav", "../gone.wav", "loop"])
  func absentFilesAreMissing(
    path: String
  ) { #expect(errorKind(path) == .missing) }

  @Test(arguments: ["sub", "pipe.wav", "sub/"]) func foldersAndPipesAreNotFiles(path: String) {
    #expect(errorKind(path) == .notAFile)
  }

  @Test func absolutePathIntoTheFolderIsRefused() {
    #expect(errorKind("\(folderPath)/root/ok.wav") == .outside)
  }

  @Test func theRootMayBeALink() throws {
    let linkedFolder = SoundFolder(rootPath: "\(folderPath)/link-to-root")
    #expect(try linkedFolder.decodeSound(at: "ok.wav").frameCount == 2)
    #expect(errorKind("../out.wav", in: linkedFolder) == .outside)
  }

  @Test func theRootMayBeTheFileSystemRoot() throws {
    #expect(
      try SoundFolder(rootPath: "/").decodeSound(
        at: "\(folderPath)/out.wav".dropFirst().description
      )
      .rate > 0)
  }

  @Test func filesOfAnAbsentRootAreMissing() {
    #expect(errorKind("ok.wav", in: SoundFolder(rootPath: "\(folderPath)/gone")) == .missing)
  }

  @Test func fileWithoutASoundIsRefused() throws {
    let descriptor = unsafe open("\(folderPath)/root/text.wav", O_WRONLY | O_CREAT, 0o600)
    close(descriptor)
    #expect(errorKind("text.wav") == .notSound)
  }

  /// A sparse file whose header specifies too many samples is refused before it is read.
  @Test func hugeSoundIsRefused() throws {
    let path = "\(folderPath)/root/huge.wav"
    var writer = try SoundFileWriter(
      path: path, format: SoundFileFormat(container: .wav, sampleFormat: .s16), rate: 8_000,
      channelCount: 1)
    try writer.close()
    let descriptor = unsafe open(path, O_RDWR)
    defer { close(descriptor) }
    ftruncate(descriptor, 200_000_044)
    // The sizes of the RIFF chunk and of its data chunk, which is the last one of the header.
    for (offset, size) in [(4, UInt32(200_000_036)), (40, UInt32(200_000_000))] {
      _ = unsafe withUnsafeBytes(of: size.littleEndian) {
        unsafe pwrite(descriptor, $0.baseAddress, 4, off_t(offset))
      }
    }
    #expect(errorKind("huge.wav") == .tooLong)
  }

  @Test func directlyOpenedPathsMayBeLinks() throws {
    #expect(try Sound(contentsOf: "\(folderPath)/root/link.wav").frameCount == 2)
    func kind(_ path: String) -> SoundFileError.Kind? {
      #expect(throws: SoundFileError.self) { try Sound(contentsOf: path) }?.kind
    }
    #expect(kind("\(folderPath)/none.wav") == .missing)
    #expect(kind(folderPath) == .notAFile)
    #expect(kind("\(folderPath)/root/pipe.wav") == .notAFile)
  }

  @Test func fileThatCannotBeCreatedIsAnError() {
    let error = #expect(throws: SoundFileError.self) {
      _ = try SoundFileWriter(
        path: "\(folderPath)/none/a.wav",
        format: SoundFileFormat(container: .wav, sampleFormat: .s16),
        rate: 8_000,
        channelCount: 1)
    }
    #expect(error?.kind == .systemRefused)
    #expect(error?.description == "cannot be created: No such file or directory")
  }
}
