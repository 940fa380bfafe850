// Prints the events that the AHAP reader of flutter_rich_haptics finds in a file, for the runner `rich-haptics`.
@file:JvmName("RichHapticsReader")

import com.example.flutter_rich_haptics.AhapTranslator
import java.io.File
import kotlin.system.exitProcess

fun main(arguments: Array<String>) {
    val events = try {
        AhapTranslator().parseAhap(File(arguments[0]).readText())
    } catch (error: Exception) {
        exitProcess(2)
    }
    val objects = events.map {
        val isTransient = it.type == AhapTranslator.EventType.TRANSIENT
        val kind = if (isTransient) "HapticTransient" else "HapticContinuous"
        val end = it.time + it.duration
        val times = if (isTransient) listOf(it.time) else listOf(it.time, end)
        val corners = times.joinToString { time -> "$time, ${it.intensity}, ${it.sharpness}" }
        "{\"kind\": \"$kind\", \"end\": $end, \"corners\": [$corners]}"
    }
    println("{\"events\": [${objects.joinToString()}]}")
}
