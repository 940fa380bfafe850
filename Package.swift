// swift-tools-version: 6.2
import PackageDescription

/// One set of settings for every module: Swift 6, strict memory safety, explicit imports and existentials.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6), .strictMemorySafety(), .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("MemberImportVisibility"),
]

/// What computes is optimised in debug builds too, with its assertions, where this package itself is built: tests take a
/// third of the time. Packages that depend on it may not see such flags.
let core: [SwiftSetting] =
  Context.environment["PWD"] == Context.packageDirectory
  ? strict + [.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))] : strict

/// The same for the inner loops in C.
let kernels: [CSetting] =
  Context.environment["PWD"] == Context.packageDirectory ? [.unsafeFlags(["-O2"], .when(configuration: .debug))] : []

let package = Package(
  name: "Temblor",
  products: [
    // Patterns and all that can be done with them; Apple's interface has products of its own.
    .library(
      name: "Temblor",
      targets: [
        "BlindListening", "Diagnostics", "HapticFormats", "HapticModel", "HapticOutputs", "HapticPlayback",
        "HapticRender", "JSONText", "PatternComparison", "PatternRules", "PatternWorkflows", "ReviewPages",
        "ShippedPatterns", "SignalAnalysis", "SignalPlots", "SoundFile", "SystemSupport", "Temblor",
        "TransducerCalibration", "TransducerProfiles",
      ]),
    // The core alone: no files, no devices, no C library.
    .library(name: "HapticRender", targets: ["HapticModel", "HapticPlayback", "HapticRender"]),
    .library(name: "CoreHaptics", targets: ["CoreHaptics", "CoreHapticsTesting"]),
    // Imports Testing, so that no program links it by accident.
    .library(name: "HapticTesting", targets: ["HapticTesting"]), .library(name: "AVFAudio", targets: ["AVFAudio"]),
    .library(name: "AVFoundation", targets: ["AVFoundation"]),
    .library(name: "AudioToolbox", targets: ["AudioToolbox"]),
    .library(name: "GameController", targets: ["GameController"]), .library(name: "SwiftUI", targets: ["SwiftUI"]),
    .library(name: "os", targets: ["os"]), .library(name: "UIKit", targets: ["UIKit", "_Testing_UIKit"]),
    .library(name: "HapticManagement", targets: ["FeedbackGenerators", "HapticManagement"]),
    .executable(name: "temblor", targets: ["temblor"]),
    // For Fuzz/run alone, which reaches into them; no interface for programs.
    .library(name: "_TemblorFuzzing", targets: ["CommandLineKit", "ListenServer", "TemblorCommands"]),
  ],
  traits: [
    .trait(
      name: "SoundOutput",
      description: "Plays to ALSA devices, reads sound files and XML; needs the headers of ALSA, libsndfile, "
        + "libsamplerate and libexpat. Without it engines play on virtual devices, and sound files " + "are PCM WAV."),
    .default(enabledTraits: ["SoundOutput"]),
  ],
  targets: [
    .target(name: "HapticModel", dependencies: ["CMath"], swiftSettings: core),
    .target(name: "Diagnostics", swiftSettings: core),
    .target(name: "JSONText", dependencies: ["Diagnostics"], swiftSettings: core),
    .target(
      name: "HapticFormats",
      dependencies: [
        "CMath", .target(name: "CExpat", condition: .when(traits: ["SoundOutput"])), "Diagnostics", "HapticModel",
        "JSONText",
      ], swiftSettings: core),
    .target(name: "RealtimeMemory", swiftSettings: core + [.enableExperimentalFeature("Lifetimes")]),
    .target(
      name: "HapticRender", dependencies: ["CMath", "CSampleKernels", "HapticModel", "RealtimeMemory"],
      swiftSettings: core),
    // Inner loops for x86-64, equal bit for bit to the Swift code beside them.
    .target(name: "CSampleKernels", cSettings: kernels),
    .target(
      name: "HapticPlayback", dependencies: ["HapticModel", "HapticRender", "RealtimeMemory"], swiftSettings: core),
    .testTarget(
      name: "HapticPlaybackTests", dependencies: ["HapticModel", "HapticPlayback", "HapticRender", "TestSupport"],
      swiftSettings: strict),
    // Modules under Apple's names, with only what haptic code touches.
    .target(name: "AVFAudio", swiftSettings: strict),
    .target(name: "AVFoundation", dependencies: ["AVFAudio"], swiftSettings: strict),
    .target(name: "GameController", dependencies: ["CoreHaptics"], swiftSettings: strict),
    .target(name: "AudioToolbox", dependencies: ["CoreHaptics", "HapticManagement"], swiftSettings: strict),
    .target(name: "_Testing_UIKit", swiftSettings: strict),
    .target(name: "UIKit", dependencies: ["FeedbackGenerators"], swiftSettings: strict),
    .target(name: "SwiftUI", swiftSettings: strict), .target(name: "os", swiftSettings: strict),
    .target(
      name: "CoreHaptics",
      dependencies: [
        "AVFAudio", "Diagnostics", "HapticFormats", "HapticModel",
        .target(name: "HapticOutputs", condition: .when(traits: ["SoundOutput"])), "HapticPlayback", "HapticRender",
        "JSONText", "SoundFile", "TransducerProfiles",
      ], swiftSettings: strict),
    .target(
      name: "CoreHapticsTesting", dependencies: ["CoreHaptics", "HapticFormats", "HapticModel", "HapticRender"],
      swiftSettings: strict),
    .target(name: "HapticTesting", dependencies: ["CoreHaptics", "CoreHapticsTesting"], swiftSettings: strict),
    .testTarget(
      name: "HapticTestingTests",
      dependencies: ["CoreHaptics", "CoreHapticsTesting", "FeedbackGenerators", "HapticManagement", "HapticTesting"],
      // As the guide says for tests that check the rule of handlers.
      swiftSettings: strict + [.unsafeFlags(["-enable-actor-data-race-checks"])]),
    .testTarget(
      name: "CoreHapticsTests",
      dependencies: [
        "CoreHaptics", "CoreHapticsTesting", "HapticFormats", "HapticModel", "HapticRender", "HapticTesting",
        "ShippedPatterns", "TestSupport",
      ], swiftSettings: strict),
    // Programs that use Core Haptics are not written by these rules.
    .testTarget(
      name: "CoreHapticsClientTests",
      dependencies: [
        "AVFoundation", "AudioToolbox", "CoreHaptics", "CoreHapticsTesting", "GameController", "HapticTesting",
        "SwiftUI", "UIKit", "_Testing_UIKit", "os",
      ], swiftSettings: [.swiftLanguageMode(.v5)]),
    .target(
      name: "HapticManagement", dependencies: ["CoreHaptics", "HapticFormats", "HapticModel", "ShippedPatterns"],
      swiftSettings: strict),
    .testTarget(
      name: "HapticManagementTests",
      dependencies: [
        "CoreHaptics", "CoreHapticsTesting", "HapticFormats", "HapticManagement", "HapticRender", "HapticTesting",
        "TestSupport",
      ], swiftSettings: strict),
    .target(name: "FeedbackGenerators", dependencies: ["CoreHaptics", "HapticManagement"], swiftSettings: strict),
    .testTarget(
      name: "FeedbackGeneratorsTests",
      dependencies: ["CoreHaptics", "CoreHapticsTesting", "FeedbackGenerators", "HapticManagement", "HapticTesting"],
      swiftSettings: strict),
    // A package of its own for readers; built here, too, so that it stays right.
    .target(
      name: "RunCoach", dependencies: ["CoreHaptics", "UIKit"], path: "Examples/RunCoach/Sources/RunCoach",
      swiftSettings: [.swiftLanguageMode(.v5)]),
    .testTarget(
      name: "RunCoachTests", dependencies: ["HapticTesting", "RunCoach"], path: "Examples/RunCoach/Tests/RunCoachTests",
      exclude: ["__Haptics__"]),
    .executableTarget(
      name: "earthready-drill", dependencies: ["CoreHaptics", "CoreHapticsTesting", "HapticManagement"],
      path: "Examples/earthready-drill", swiftSettings: strict),
    .testTarget(name: "EarthReadyDrillTests", dependencies: ["earthready-drill"], swiftSettings: strict),
    .target(
      name: "HapticOutputs", dependencies: ["CALSA", "HapticPlayback", "SoundFile", "SystemSupport"],
      swiftSettings: strict),
    .target(
      name: "CFaultyPCM", dependencies: ["CALSA"], path: "Tests/CFaultyPCM", linkerSettings: [.linkedLibrary("asound")]),
    .target(
      name: "FaultyPCM", dependencies: ["CFaultyPCM", "HapticOutputs", "HapticPlayback", "SoundFile"],
      path: "Tests/FaultyPCM", swiftSettings: strict),
    .testTarget(
      name: "HapticOutputsTests",
      dependencies: ["FaultyPCM", "HapticModel", "HapticOutputs", "HapticPlayback", "HapticRender", "SoundFile"],
      swiftSettings: strict),
    .target(
      name: "PlayRig", dependencies: ["HapticFormats", "HapticModel", "HapticPlayback", "ShippedPatterns"],
      path: "Tests/PlayRig", swiftSettings: strict),
    .testTarget(
      name: "ALSAPlaybackTests",
      dependencies: [
        "FaultyPCM", "HapticFormats", "HapticModel", "HapticOutputs", "HapticPlayback", "HapticRender", "PlayRig",
        "ShippedPatterns", "SoundFile", "TestSupport",
      ], swiftSettings: strict),
    .executableTarget(
      name: "play-probe", dependencies: ["HapticOutputs", "HapticPlayback", "HapticRender", "PlayRig"],
      path: "Tests/PlayProbe", exclude: ["soak"], swiftSettings: strict),
    .testTarget(
      name: "ServerTests", dependencies: ["HapticPlayback", "PlayRig", "SoundFile", "TestSupport", "play-probe"],
      swiftSettings: strict),
    .target(
      name: "SoundFile",
      dependencies: [
        .target(name: "CSndFile", condition: .when(traits: ["SoundOutput"])),
        .target(name: "CSampleRate", condition: .when(traits: ["SoundOutput"])), "CSampleKernels", "SystemSupport",
      ], swiftSettings: core),
    .target(
      name: "TransducerProfiles", dependencies: ["CMath", "Diagnostics", "HapticModel", "HapticRender", "JSONText"],
      resources: [.embedInCode("Profiles")], swiftSettings: core),
    .target(
      name: "PatternRules", dependencies: ["Diagnostics", "HapticModel", "HapticRender", "SystemSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "PatternRulesTests",
      dependencies: ["CoreHaptics", "Diagnostics", "HapticFormats", "HapticModel", "HapticRender", "PatternRules"],
      swiftSettings: strict),
    .target(name: "ShippedPatterns", resources: [.embedInCode("Patterns")], swiftSettings: strict),
    .target(name: "SignalAnalysis", dependencies: ["CEBUR128", "CKissFFT", "CMath"], swiftSettings: core),
    .testTarget(
      name: "SignalAnalysisTests",
      dependencies: ["HapticFormats", "HapticModel", "HapticRender", "ShippedPatterns", "SignalAnalysis"],
      exclude: ["Independent"], swiftSettings: strict),
    .target(
      name: "SignalPlots", dependencies: ["CCairo", "CMath", "HapticModel", "HapticRender", "SignalAnalysis"],
      swiftSettings: core),
    .testTarget(
      name: "SignalPlotsTests", dependencies: ["HapticModel", "HapticRender", "SignalAnalysis", "SignalPlots"],
      swiftSettings: strict),
    .target(
      name: "PatternComparison",
      dependencies: ["CMath", "HapticModel", "HapticRender", "JSONText", "SignalAnalysis", "SystemSupport"],
      swiftSettings: core),
    .testTarget(
      name: "PatternComparisonTests",
      dependencies: [
        "HapticFormats", "HapticModel", "HapticRender", "JSONText", "PatternComparison", "ShippedPatterns",
        "SignalAnalysis", "SoundFile",
      ], swiftSettings: strict),
    .target(name: "BlindListening", dependencies: ["JSONText", "SystemSupport"], swiftSettings: strict),
    .testTarget(name: "BlindListeningTests", dependencies: ["BlindListening", "SystemSupport"], swiftSettings: strict),
    .target(
      name: "ReviewPages",
      dependencies: [
        "BlindListening", "HapticModel", "HapticRender", "JSONText", "PatternComparison", "SignalAnalysis",
        "SignalPlots", "SoundFile", "SystemSupport",
      ], resources: [.embedInCode("Page")], swiftSettings: strict),
    .testTarget(
      name: "ReviewPagesTests",
      dependencies: [
        "BlindListening", "HapticModel", "HapticRender", "JSONText", "PatternComparison", "ReviewPages",
        "SignalAnalysis", "SignalPlots", "SoundFile", "TestSupport",
      ], swiftSettings: strict),
    .target(
      name: "TransducerCalibration", dependencies: ["CMath", "HapticRender", "SignalAnalysis", "SystemSupport"],
      swiftSettings: core),
    .testTarget(
      name: "TransducerCalibrationTests",
      dependencies: ["HapticRender", "SignalAnalysis", "TestSupport", "TransducerCalibration"], swiftSettings: strict),
    .target(name: "SystemSupport", swiftSettings: strict),
    .testTarget(name: "SystemSupportTests", dependencies: ["SystemSupport", "TestSupport"], swiftSettings: strict),
    .target(name: "CommandLineKit", dependencies: ["SystemSupport"], swiftSettings: strict),
    .target(
      name: "PatternWorkflows",
      dependencies: [
        "Diagnostics", "HapticFormats", "HapticModel", "HapticRender", "JSONText", "PatternComparison", "PatternRules",
        "ShippedPatterns", "SignalAnalysis", "SoundFile", "SystemSupport", "TransducerProfiles",
      ], swiftSettings: strict),
    .testTarget(
      name: "PatternWorkflowsTests",
      dependencies: [
        "Diagnostics", "HapticFormats", "HapticModel", "HapticRender", "PatternWorkflows", "SoundFile", "SystemSupport",
        "TestSupport", "TransducerProfiles",
      ], swiftSettings: strict),
    .target(
      name: "ListenServer",
      dependencies: [
        "CommandLineKit", "HapticFormats", "HapticModel", "HapticPlayback", "HapticRender", "PatternWorkflows",
        "SystemSupport", "TransducerProfiles",
      ], swiftSettings: strict),
    .testTarget(
      name: "ListenServerTests",
      dependencies: [
        "CommandLineKit", "HapticModel", "HapticPlayback", "HapticRender", "ListenServer", "SystemSupport",
        "TemblorCommands", "TestSupport", "TransducerProfiles",
      ], swiftSettings: strict),
    .target(
      name: "TemblorCommands",
      dependencies: [
        "BlindListening", "CommandLineKit", "Diagnostics", "HapticFormats", "HapticModel", "HapticOutputs",
        "HapticPlayback", "HapticRender", "JSONText", "ListenServer", "PatternComparison", "PatternRules",
        "PatternWorkflows", "ReviewPages", "ShippedPatterns", "SignalAnalysis", "SignalPlots", "SoundFile",
        "SystemSupport", "TransducerCalibration", "TransducerProfiles",
      ], swiftSettings: strict),
    .testTarget(name: "HapticModelTests", dependencies: ["HapticModel"], swiftSettings: strict),
    .target(
      name: "TestSupport", dependencies: ["Diagnostics", "HapticFormats", "HapticModel", "HapticRender"],
      path: "Tests/TestSupport", swiftSettings: core),
    .testTarget(
      name: "HapticRenderTests",
      dependencies: ["CSampleKernels", "HapticModel", "HapticRender", "RealtimeMemory", "TestSupport"],
      swiftSettings: strict), .target(name: "CRealtimeGuard", path: "Tests/CRealtimeGuard"),
    .testTarget(
      name: "RealtimeTests",
      dependencies: [
        "CRealtimeGuard", "HapticFormats", "HapticModel", "HapticRender", "ShippedPatterns", "TestSupport",
      ], swiftSettings: strict),
    .testTarget(
      name: "SamplesTests",
      dependencies: [
        "Diagnostics", "HapticFormats", "HapticModel", "HapticRender", "PatternRules", "PatternWorkflows",
        "ShippedPatterns", "SoundFile", "SystemSupport", "TemblorCommands", "TestSupport",
      ], swiftSettings: strict),
    .executableTarget(
      name: "temblor", dependencies: ["TemblorCommands"], swiftSettings: strict,
      // A table of its own symbols, for nobody, is a tenth of what a start takes.
      linkerSettings: [
        .unsafeFlags(["-Xlinker", "-no-export-dynamic", "-Xlinker", "-s"], .when(configuration: .release))
      ]),
    .testTarget(
      name: "TemblorCommandsTests",
      dependencies: [
        "BlindListening", "CommandLineKit", "HapticFormats", "HapticModel", "HapticOutputs", "HapticPlayback",
        "HapticRender", "JSONText", "ListenServer", "PatternComparison", "PatternWorkflows", "SignalAnalysis",
        "SoundFile", "SystemSupport", "TemblorCommands", "TestSupport", "TransducerProfiles", "temblor",
        "terminal-probe",
      ], swiftSettings: strict),
    .executableTarget(
      name: "terminal-probe", dependencies: ["CommandLineKit", "HapticPlayback", "SystemSupport"],
      path: "Tests/TerminalProbe", swiftSettings: strict),

    .testTarget(
      name: "TemblorTests", dependencies: ["HapticRender", "SoundFile", "TestSupport", "temblor"],
      exclude: ["FaultPlugIn"], swiftSettings: strict),
    .testTarget(name: "SoundFileTests", dependencies: ["CSampleKernels", "SoundFile"], swiftSettings: strict),

    .executableTarget(
      name: "temblor-bench",
      dependencies: [
        "CoreHaptics", "HapticFormats", "HapticModel", "HapticRender", "JSONText", "ShippedPatterns", "SoundFile",
        "SystemSupport",
      ], swiftSettings: strict),

    .testTarget(name: "DiagnosticsTests", dependencies: ["Diagnostics"], swiftSettings: strict),
    .testTarget(name: "JSONTextTests", dependencies: ["Diagnostics", "JSONText"], swiftSettings: strict),
    .testTarget(
      name: "HapticFormatsTests",
      dependencies: ["Diagnostics", "HapticFormats", "HapticModel", "JSONText", "PatternRules", "TestSupport"],
      resources: [.copy("Fixtures")], swiftSettings: strict),

    .testTarget(
      name: "TransducerProfilesTests",
      dependencies: ["Diagnostics", "HapticModel", "HapticRender", "TestSupport", "TransducerProfiles"],
      swiftSettings: strict),

    // One import for users of the library.
    .target(
      name: "Temblor",
      dependencies: [
        "BlindListening", "Diagnostics", "HapticFormats", "HapticModel", "HapticOutputs", "HapticPlayback",
        "HapticRender", "PatternComparison", "PatternRules", "PatternWorkflows", "ReviewPages", "ShippedPatterns",
        "SignalAnalysis", "SignalPlots", "SoundFile", "SystemSupport", "TransducerCalibration", "TransducerProfiles",
      ], swiftSettings: strict), .testTarget(name: "LibraryTests", dependencies: ["Temblor"], swiftSettings: strict),
    // What the checkout says of itself: its module table, its words, the size of its files.
    .testTarget(name: "ProjectTests", swiftSettings: strict),

    // Libraries of others, loaded at the first call of one of their functions; the headers come with their packages.
    .target(name: "CLateLibrary"), .target(name: "CALSA", dependencies: ["CLateLibrary"]),
    .target(name: "CEBUR128", dependencies: ["CLateLibrary"]), .target(name: "CExpat", dependencies: ["CLateLibrary"]),
    .target(name: "CKissFFT", dependencies: ["CLateLibrary"]),
    .target(name: "CSampleRate", dependencies: ["CLateLibrary"]),
    .target(name: "CSndFile", dependencies: ["CLateLibrary"]),
    // Loaded when a picture is drawn: headers only.
    .systemLibrary(name: "CMath"), .systemLibrary(name: "CCairo", providers: [.apt(["libcairo2-dev"])]),
  ])
